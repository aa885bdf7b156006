// SPDX-License-Identifier: MIT
// Any bytes as text: a typed error, or windows that spell the text again. The first byte is the context.
#include <incipit/data/text.hpp>

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  if (size == 0) return 0;
  const incipit::Extent context = bytes[0] % 8;
  const std::string text(bytes + 1, bytes + size);
  try {
    const auto read = incipit::data::text_examples(text, context);
    read.examples.validate();
    for (incipit::Extent n = 0; n < read.examples.size(); ++n) {
      for (incipit::Extent i = 0; i <= context; ++i) {
        const auto label = read.examples.labels[static_cast<std::size_t>(n)];
        const auto id = i < context ? read.examples.tokens(n, i) : label;
        if (read.alphabet[static_cast<std::size_t>(id)] != text[static_cast<std::size_t>(n + i)]) std::abort();
      }
    }
  } catch (const incipit::Error&) {
  }
  return 0;
}
