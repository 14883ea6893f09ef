// Any sequence of frames, time and answers through the whole engine keeps every law after every step.

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "test/history.hpp"

namespace octep::sim {
void showValue(const input& i, std::ostream& out) { out << in_words(i); }
}  // namespace octep::sim

namespace rc {
template <>
struct Arbitrary<octep::sim::input> {
  static Gen<octep::sim::input> arbitrary() {
    using octep::sim::flows;
    using octep::sim::input;
    using octep::sim::revive_switch;
    using octep::sim::switches;
    using octep::u32;
    const auto below = [](u32 n) { return gen::inRange<u32>(0, n); };
    const auto of = [](input::kind k, Gen<u32> a, Gen<u32> b, Gen<u32> c) {
      return gen::construct<input>(gen::just(k), std::move(a), std::move(b), std::move(c));
    };
    return gen::weightedOneOf<input>({
        {18, of(input::kind::frames, below(flows), gen::inRange<u32>(1, 20), gen::weightedElement<u32>({{6, 0U}, {2, 1U}, {2, 2U}, {1, 3U}}))},
        {10, of(input::kind::stuck, below(flows), gen::inRange<u32>(1, 30), gen::just(0U))},
        {10, of(input::kind::wait, below(9), gen::just(0U), gen::just(0U))},
        // A command that is never answered ends the history's commands, by design: seldom.
        {3, of(input::kind::fault, gen::weightedElement<u32>({{6, 0U}, {6, 1U}, {3, 2U}, {2, 3U}, {1, 4U}, {1, 5U}}), gen::just(0U), gen::just(0U))},
        {1, of(input::kind::kill, below(4), below(2), gen::just(0U))},
        {1, of(input::kind::flush, below(2), gen::just(0U), gen::just(0U))},
        {1, of(input::kind::discard, gen::just(0U), gen::just(0U), gen::just(0U))},
        {2, of(input::kind::set, below(switches), below(2), gen::just(0U))},
        // Off and on: what is given back meanwhile is taken out, and held back.
        {2, of(input::kind::set, gen::just(revive_switch), below(2), gen::just(0U))},
        {7, of(input::kind::until, gen::weightedElement<u32>({{1, 0U}, {4, 1U}, {3, 2U}, {2, 3U}, {3, 4U}, {4, 5U}, {3, 6U}, {1, 7U}, {1, 8U}, {1, 9U}}), gen::just(0U), gen::just(0U))},
        {1, of(input::kind::vlan, below(flows), below(3), gen::just(0U))},
        {1, of(input::kind::silence, gen::weightedElement<u32>({{1, 0U}, {3, 1U}}), gen::just(0U), gen::just(0U))},
        {1, of(input::kind::restart, gen::just(0U), gen::just(0U), gen::just(0U))},
        {2, of(input::kind::neighbour, below(3), gen::just(0U), gen::just(0U))},
        {1, of(input::kind::route, gen::weightedElement<u32>({{1, 0U}, {2, 1U}}), gen::just(0U), gen::just(0U))},
        {1, of(input::kind::reload, gen::weightedElement<u32>({{1, 0U}, {3, 1U}}), gen::just(0U), gen::just(0U))},
        {1, of(input::kind::remove, below(flows), below(2), gen::just(0U))},
        {5, of(input::kind::key, gen::weightedElement<u32>({{4, 0U}, {3, 1U}, {3, 2U}, {3, 3U}}), gen::just(0U), gen::just(0U))},
        {1, of(input::kind::keep, below(flows), gen::weightedElement<u32>({{1, 0U}, {3, 1U}}), gen::just(0U))},
    });
  }
};
}  // namespace rc

namespace octep::sim {
namespace {

// Thousands of histories as a test (test/CMakeLists.txt). RC_PARAMS="max_success=50000 max_size=200" makes a campaign of it.
RC_GTEST_PROP(appliance, keeps_every_law_after_every_step, (bool nat)) {
  const auto inputs = *rc::gen::scale(3.0, rc::gen::arbitrary<std::vector<input>>());
  history h{nat, inputs.size() + 1};
  for (const input& i : inputs) {
    h.apply(i);
    if (const std::string why = h.broken(); !why.empty()) RC_FAIL(why);
  }
  RC_CLASSIFY(h.made() > 0, "something was made");
  RC_CLASSIFY(h.made() > 2, "more than two were made");
}

// What ends one connection and begins another in its place, again and again: everything that is reused, late or raced.
rc::Gen<input> reuse() {
  const auto below = [](u32 n) { return rc::gen::inRange<u32>(0, n); };
  const auto of = [](input::kind k, rc::Gen<u32> a, rc::Gen<u32> b, rc::Gen<u32> c) {
    return rc::gen::construct<input>(rc::gen::just(k), std::move(a), std::move(b), std::move(c));
  };
  const auto zero = rc::gen::just(0U);
  return rc::gen::weightedOneOf<input>({
      {16, of(input::kind::frames, below(flows), rc::gen::inRange<u32>(1, 20),
              rc::gen::weightedElement<u32>({{6, 0U}, {2, 1U}, {2, 2U}, {1, 3U}}))},
      {4, of(input::kind::stuck, below(flows), rc::gen::inRange<u32>(1, 30), zero)},
      {10, of(input::kind::wait, below(9), zero, zero)},
      {4, of(input::kind::kill, below(4), zero, zero)},
      {1, of(input::kind::flush, zero, zero, zero)},
      {2, of(input::kind::fault, rc::gen::just(2U), zero, zero)},  // answered twice. Who refuses or is silent keeps what he has
      {6, of(input::kind::until, below(moment_count), zero, zero)},
      {2, of(input::kind::vlan, below(flows), below(3), zero)},
      {2, of(input::kind::neighbour, below(3), zero, zero)},
      {1, of(input::kind::discard, zero, zero, zero)},
      {1, of(input::kind::restart, zero, zero, zero)},
      {2, of(input::kind::remove, below(flows), below(2), zero)},
      {4, of(input::kind::key, rc::gen::weightedElement<u32>({{4, 0U}, {3, 1U}, {2, 2U}, {2, 3U}}), zero, zero)},
  });
}

// No frame of one connection is ever attributed to another, by identity, translation, next hop, association or place (system.md 8 to 13): that
// fault forwards somebody else's traffic.
RC_GTEST_PROP(isolation, attributes_no_frame_to_another_connection_whatever_is_reused, (bool nat)) {
  const auto inputs = *rc::gen::scale(3.0, rc::gen::container<std::vector<input>>(reuse()));
  history h{nat, inputs.size() + 1, true};
  for (const input& i : inputs) {
    h.apply(i);
    if (const std::string why = h.broken(); !why.empty()) RC_FAIL(why);
  }
  RC_CLASSIFY(h.made() > 2, "more than two were made");
}

// Found by the property above: what is dead waits for more rounds once fewer are asked a poll.
TEST(appliance, outlives_its_state_by_the_bound_of_what_is_set_meanwhile) {
  using enum input::kind;
  history h{false, 12};
  for (const input& i : std::vector<input>{{frames, 0, 3, 1}, {wait, 6}, {frames, 1, 4, 0}, {until, 5}, {flush, 0}, {frames, 2, 2, 0},
                                           {set, sweep_switch, 0}, {wait, 6}}) {
    h.apply(i);
    EXPECT_EQ(h.broken(), "") << in_words(i);
  }
  EXPECT_GT(h.made(), 1U);
}

// The generator reaches what it is for: histories in which nothing is ever made would prove nothing.
TEST(appliance, is_made_to_work_by_its_generator) {
  u64 made = 0;
  for (u64 seed = 1; seed <= 50; ++seed) {
    const auto inputs = rc::gen::container<std::vector<input>>(60, rc::gen::arbitrary<input>())(rc::Random(seed), 100).value();
    history h{seed % 2 == 0, seed};
    for (const input& i : inputs) h.apply(i);
    made += h.made();
  }
  EXPECT_GT(made, 100U);
}

// What the laws are there to survive does happen.
TEST(appliance, is_brought_to_every_edge_by_its_generator) {
  std::map<std::string, u64> met;
  for (u64 seed = 1; seed <= 800; ++seed) {
    const auto inputs = rc::gen::container<std::vector<input>>(100, rc::gen::arbitrary<input>())(rc::Random(seed), 100).value();
    history h{seed % 2 == 0, seed};
    for (const input& i : inputs) h.apply(i);
    met["late deactivate"] += h.late(command_kind::deactivate);
    for (const command_kind kind :
         {command_kind::next_hop_set, command_kind::next_hop_release, command_kind::create, command_kind::discard,
          command_kind::association_add, command_kind::association_delete}) {
      met[std::string("late ") + name(kind)] += h.late(kind);
      met[std::string("refused ") + name(kind)] += h.refused(kind);
    }
    for (const reason r : {reason::flow_closing, reason::flow_other_closing, reason::flow_changed,
                           reason::nhop_full, reason::auto_full, reason::fast_make_spent, reason::flow_family,
                           reason::flow_rc_refused, reason::flow_unanswered, reason::flow_held_back, reason::flow_kept_out,
                           reason::flow_wait_gap, reason::flow_ended, reason::flow_revive_off,
                           reason::flow_expired, reason::flow_reval, reason::flow_rerouted, reason::flow_port_moved,
                           reason::flow_removed, reason::flow_made_room, reason::flow_audited, reason::flow_shaped, reason::flow_tunnelled,
                           reason::flow_no_association, reason::flow_association_gone})
      met[name(r)] += h.core().counted(r);
    for (const pass_counter c : {pass_counter::flow_doomed, pass_counter::flow_aborted, pass_counter::flow_reclaimed,
                                 pass_counter::flow_forgot, pass_counter::discards, pass_counter::nhop_shared,
                                 pass_counter::cmd_unknown_tag, pass_counter::flow_attached, pass_counter::flow_revived,
                                 pass_counter::flow_repoint, pass_counter::probe_valid, pass_counter::probe_waits,
                                 pass_counter::hold_backs, pass_counter::gap_found, pass_counter::gap_expired,
                                 pass_counter::ka_touched, pass_counter::ka_idle, pass_counter::sweep_dead,
                                 pass_counter::room_idle, pass_counter::removed_by_hand, pass_counter::far_side_resets,
                                 pass_counter::assoc_installed, pass_counter::assoc_deleted, pass_counter::assoc_margins})
      met[name(c)] += h.core().counters().value(c);
    for (u32 i = 0; i < h.core().table().capacity(); ++i)
      met["held IPv6"] += h.core().table()[i].state == record_state::held && h.core().table()[i].which == family::ipv6;
  }
  for (const auto& [what, times] : met) EXPECT_GT(times, 0U) << what;
}

}  // namespace
}  // namespace octep::sim
