#include <octep/identity.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace octep {
namespace {

RC_GTEST_PROP(Identity, ItsTwoFieldsAreReadBackFromTheFlowWord, (u32 any)) {
  const u32 id = any & 0x01ff'ffff;
  const u32 revision = any >> 26;
  const identity i = identity::make(id, revision);
  RC_ASSERT(i.id() == id);
  RC_ASSERT(i.revision() == revision);
  RC_ASSERT(i.word == ((u32{1} << 31) | (revision << 25) | id));
  RC_ASSERT(i.names_flow() == (id != 0));
}

TEST(Identity, NamesAFlowOnlyWhenValidAndNotZero) {
  EXPECT_FALSE(identity{}.names_flow());
  EXPECT_FALSE((identity{identity::valid_bit}.names_flow()));
  EXPECT_FALSE((identity{identity::valid_bit | (u32{5} << 25)}.names_flow()));
  EXPECT_FALSE((identity{5}.names_flow())) << "the valid bit is not set";
  EXPECT_TRUE(identity::make(1, 0).names_flow());
}

TEST(Identity, OneMicroflowUnderAnotherRevisionIsAnother) {
  EXPECT_NE(identity::make(7, 1), identity::make(7, 2));
  EXPECT_EQ(identity::make(7, 1), identity::make(7, 65)) << "six bits of revision";
}

RC_GTEST_PROP(Ingress, IsItsWord, (u16 port, u16 vlan)) {
  const ingress where{port, vlan};
  RC_ASSERT(ingress::from_word(where.word()) == where);
  RC_ASSERT(where.word() == (u32{port} * 65'536 + vlan));
}

TEST(Association, LowHalfIndexHighHalfRevision) {
  EXPECT_EQ((association_word{0x0012'0034}.index()), 0x34);
  EXPECT_EQ((association_word{0x0012'0034}.revision()), 0x12);
  EXPECT_TRUE(association_word{}.none());
  EXPECT_FALSE((association_word{1}.none()));
}

TEST(Handle, AnotherRevisionOfAnIndexIsAnotherUse) {
  EXPECT_NE((handle{3, 1}), (handle{3, 2}));
  EXPECT_NE((handle{3, 1}), (handle{4, 1}));
  EXPECT_EQ((handle{3, 1}), (handle{3, 1}));
}

}  // namespace
}  // namespace octep
