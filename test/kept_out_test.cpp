#include <octep/kept_out.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

#include "test/support.hpp"

namespace octep {
namespace {

constexpr u32 tuples = 40;

template <tuple_type Tuple>
void same(const kept_out_tuples& k, const std::set<u32>& model) {
  for (u32 n = 0; n < tuples; ++n) RC_ASSERT(k.has(test::numbered<Tuple>(n)) == (model.count(n) != 0));
  u32 seen = 0;
  k.for_each<Tuple>([&](const Tuple& t) {
    bool known = false;
    for (const u32 n : model) known |= t == test::numbered<Tuple>(n);
    RC_ASSERT(known);
    ++seen;
  });
  RC_ASSERT(seen == model.size());
}

RC_GTEST_PROP(KeptOut, IsASetOfEachFamilyWithItsOwnRoom, ()) {
  kept_out_tuples k;
  std::set<u32> v4;
  std::set<u32> v6;
  struct step {
    bool in;
    bool six;
    u32 number;
  };
  const auto steps = *rc::gen::scale(
      3.0, rc::gen::container<std::vector<step>>(rc::gen::build<step>(
               rc::gen::set(&step::in, rc::gen::weightedElement<bool>({{4, true}, {1, false}})),
               rc::gen::set(&step::six, rc::gen::arbitrary<bool>()),
               rc::gen::set(&step::number, rc::gen::inRange<u32>(0, tuples)))));
  for (const step& s : steps) {
    auto& model = s.six ? v6 : v4;
    const bool was = model.count(s.number) != 0;
    if (s.in) {
      const bool fits = was || model.size() < kept_out_tuples::room;
      if (fits) model.insert(s.number);
      RC_ASSERT(fits == (s.six ? k.add(test::numbered<tuple6>(s.number)) : k.add(test::numbered<tuple4>(s.number))));
    } else {
      model.erase(s.number);
      RC_ASSERT(was == (s.six ? k.remove(test::numbered<tuple6>(s.number)) : k.remove(test::numbered<tuple4>(s.number))));
    }
    same<tuple4>(k, v4);
    same<tuple6>(k, v6);
  }
}

TEST(kept_out, refuses_one_more_than_there_is_room_for_and_takes_it_when_another_is_let_in) {
  kept_out_tuples k;
  for (u32 n = 0; n < kept_out_tuples::room; ++n) EXPECT_TRUE(k.add(test::numbered<tuple4>(n)));
  EXPECT_FALSE(k.add(test::numbered<tuple4>(99)));
  EXPECT_FALSE(k.has(test::numbered<tuple4>(99)));
  EXPECT_TRUE(k.add(test::numbered<tuple4>(0))) << "it is on the list already";
  EXPECT_TRUE(k.add(test::numbered<tuple6>(99))) << "the other family has room of its own";
  EXPECT_TRUE(k.remove(test::numbered<tuple4>(0)));
  EXPECT_FALSE(k.remove(test::numbered<tuple4>(0)));
  EXPECT_TRUE(k.add(test::numbered<tuple4>(99)));
}

}  // namespace
}  // namespace octep
