// SPDX-License-Identifier: MIT
// Any bytes as JSON lines: a typed error, or a set that passes its own contract and reads the same again.
#include <incipit/io/jsonl_examples.hpp>

#include <cstdlib>
#include <sstream>
#include <string>

namespace {
incipit::data::Examples read(const std::string& text) {
  std::istringstream in(text);
  return incipit::io::read_jsonl_examples(in, "fuzz");
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  try {
    const auto first = read(std::string(bytes, bytes + size));
    first.validate();
    std::ostringstream written;
    for (incipit::Extent n = 0; n < first.size(); ++n) {
      written << "{\"tokens\":[";
      for (incipit::Extent i = 0; i < first.length(); ++i) written << (i > 0 ? "," : "") << first.tokens(n, i);
      written << "],\"label\":" << first.labels[static_cast<std::size_t>(n)] << "}\n";
    }
    const auto again = read(written.str());
    if (again.tokens != first.tokens || again.labels != first.labels || again.vocab != first.vocab) std::abort();
  } catch (const incipit::Error&) {
  }
  return 0;
}
