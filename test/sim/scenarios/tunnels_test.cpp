// R20 and R23 (docs/scenarios.md): a rekey moves what is in hardware and uses no number twice; an index's totals are nobody's
// lifetime; a tunnel goes down and comes up under a connection.
#include "sim/scenarios/tunnels.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <octep/associations.hpp>

namespace octep::sim::scenarios {
namespace {

void expect_r20(u32 level) {
  for (u64 seed = 1; seed <= 3; ++seed) {
    const rekeyed r = rekey_under_uploads(level, seed);
    fmt::print("R20, ipsec_flows {}: {} made, {} directions moved, {} taken out; a second after {}, then {} = margin + {} + {}; "
               "unnamed {}, twice {}\n",
               level, r.made, r.moved, r.taken_out, r.a_second_after, r.counter, r.by_engine, r.by_host, r.unnamed, r.twice);
    EXPECT_EQ(r.made, 4U);
    EXPECT_EQ(r.moved, 4U) << "the encrypting direction of each; the other one's microflow names none";
    EXPECT_EQ(r.taken_out, 0U);
    EXPECT_EQ(r.twice, 0U);
    EXPECT_EQ(r.unnamed, 0U);
    EXPECT_GE(r.a_second_after, associations::margin);
    EXPECT_EQ(r.counter, associations::margin + r.by_engine + r.by_host);
    EXPECT_GT(r.by_engine, 600'000U) << "nine seconds of it";
    // What the host hands over moves the kernel's counter itself; the far side's gives it a number too.
    EXPECT_LT(r.by_host, level == 2 ? 50U : 700'000U);
  }
}

TEST(Tunnels, ARekeyUnderFourUploadsMovesThem) { expect_r20(2); }
TEST(Tunnels, AndSoDoesOneWithTheEncryptingDirectionAlone) { expect_r20(1); }

TEST(Tunnels, AReusedIndexTellsWhatWasCarriedSince) {
  const index_reused r = reused_by_an_upload(1);
  fmt::print("R23: {} and {} bytes before; told {} and {}, carried {} and {}; {} new baselines\n", r.out_before, r.in_before, r.out_told,
             r.in_told, r.out_carried, r.in_carried, r.rebased);
  EXPECT_GT(r.out_before, 13'800'000'000U);
  EXPECT_GT(r.in_before, 23'100'000'000U);
  EXPECT_EQ(r.out_told, r.out_carried);
  EXPECT_EQ(r.in_told, r.in_carried);
  EXPECT_GT(r.out_told, 400'000'000U);
  EXPECT_LT(r.out_told, 700'000'000U);
  EXPECT_EQ(r.rebased, 0U);
}

TEST(Tunnels, DownAndUpUnderAConnection) {
  for (u64 seed = 1; seed <= 3; ++seed) {
    const tunnel_down_and_up r = down_and_up(seed);
    fmt::print("R23: {} of 3,000 answered; in hardware {} plain while it was down, {} protected after; {} leaked, {} makes\n", r.answered,
               r.plain_in_hardware, r.protected_in_hardware, r.leaked, r.made);
    EXPECT_GE(r.answered, 2'972U);
    EXPECT_EQ(r.leaked, 0U);
    EXPECT_GT(r.plain_in_hardware, 800U);
    EXPECT_GT(r.protected_in_hardware, 800U);
    EXPECT_EQ(r.made, 3U) << "protected, plain, protected";
  }
}

}  // namespace
}  // namespace octep::sim::scenarios
