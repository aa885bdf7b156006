// SPDX-License-Identifier: MIT
#pragma once

#include <incipit/core/error.hpp>

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

namespace incipit::test {

/// Checks that `call` throws exactly an `E` whose argument is `argument` and whose message contains `part`.
template <class E, class Call>
void check_refused(Call call, std::string_view argument, std::string_view part) {
  try {
    call();
    BOOST_ERROR("accepted, although " << argument << " must be refused");
  } catch (const E& error) {
    BOOST_TEST(error.argument() == argument);
    BOOST_TEST(std::string_view(error.what()).find(part) != std::string_view::npos,
               "\"" << error.what() << "\" lacks \"" << part << "\"");
  }
}

}  // namespace incipit::test
