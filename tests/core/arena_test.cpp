// SPDX-License-Identifier: MIT
#include <incipit/core/arena.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <functional>

using namespace incipit;

namespace {
struct Pair {
  using Scalar = double;
  Slot<double> a;
  Slot<double, 1, dyn> b;
  Pair(Extent rows, Extent cols) : a(nullptr, rows, cols), b(nullptr, 1, cols) {}
  template <class F> void for_each_parameter(F&& f) { f("a", a), f("b", b); }
  template <class F> void for_each_parameter(F&& f) const { f("a", a), f("b", b); }
};
Owned<Pair> filled() {
  Owned<Pair> p(3, 5);
  p.a.setConstant(2);
  p.b.setConstant(7);
  return p;
}
bool is_filled(const Owned<Pair>& p) { return p.a.sum() == 30 && p.b.sum() == 35 && p.flat().sum() == 65; }
}  // namespace

BOOST_AUTO_TEST_SUITE(core_arena)

BOOST_AUTO_TEST_CASE(slots_start_at_cache_lines_and_padding_is_zero) {
  const auto p = filled();
  BOOST_CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(p.a.data()) % cache_line, 0U);
  BOOST_CHECK_EQUAL(reinterpret_cast<std::uintptr_t>(p.b.data()) % cache_line, 0U);
  BOOST_CHECK_EQUAL(p.flat().size(), 24);
  BOOST_CHECK_EQUAL(p.count(), 20);
  BOOST_CHECK_EQUAL(p.flat().segment(15, 1)(0), 0.0);
}

BOOST_AUTO_TEST_CASE(copies_are_deep_whatever_the_value_category) {
  Owned<Pair> lvalue = filled();
  const Owned<Pair> constant = filled();
  Owned<Pair> a(lvalue), b(constant), c(std::move(constant)), d(filled());  // moving a const object copies it
  const std::function<bool()> closure = [constant] { return is_filled(constant); };
  lvalue.set_zero();
  for (const Owned<Pair>* p : std::initializer_list<const Owned<Pair>*>{&a, &b, &c, &d, &constant}) BOOST_CHECK(is_filled(*p));
  BOOST_CHECK(closure());
  BOOST_CHECK(a.a.data() != lvalue.a.data() && b.a.data() != constant.a.data() && c.a.data() != constant.a.data());
}

BOOST_AUTO_TEST_CASE(assignment_copies_values_and_refuses_other_shapes) {
  Owned<Pair> p(3, 5), same_size(5, 3);
  p = filled();
  BOOST_CHECK(is_filled(p));
  Owned<Pair> q(3, 5);
  q = p;
  p.set_zero();
  BOOST_CHECK(is_filled(q));
  BOOST_CHECK_THROW(q = same_size, ShapeError);
  BOOST_CHECK_THROW(q = Owned<Pair>(5, 3), ShapeError);
  BOOST_CHECK(is_filled(q));
}

BOOST_AUTO_TEST_SUITE_END()
