// Protection: which associations a direction refers to, and what naming one owes the kernel (system.md 13).
//
// Floor 7.
//
// The encrypting direction's microflow names its association; the decrypted one's names none, and its record remembers who
// decrypted it. Either way frames go by that the kernel does not count, so either is marked.
//
// What it refuses: naming without the mark and the margin. Buys: one call in front of every such post, and no place to forget it.
// All of it under the pass lock.
#pragma once

#include <octep/engine/state.hpp>

namespace octep::protecting {

// The use that stands for the kernel's association and may be named; `none`: there is none, or not yet.
template <class S>
[[nodiscard]] OCTEP_SELDOM association_word standing(S& s, u32 kernel) noexcept {
  const handle h = s.protects.of_kernel(kernel);
  return s.protects.nameable(h) ? associations::word_of(h) : association_word{};
}

template <class S>
void mark(S& s, association_word w) noexcept {
  if (w.none() || !s.protects.name(associations::handle_of(w))) return;
  s.counters.add(pass_counter::assoc_margins);
  s.world->associations.pass_over(s.protects[w.index()].kernel, associations::margin);
}

// Before a microflow of that direction is posted, encrypted by that association: what it says. The marks and the margin stay,
// whatever becomes of the command.
template <class S>
[[nodiscard]] OCTEP_SELDOM handle name(S& s, association_word encrypted_by, association_word decrypted_by) noexcept {
  mark(s, encrypted_by);
  mark(s, decrypted_by);
  return encrypted_by.none() ? handle{} : associations::named_as(associations::handle_of(encrypted_by));
}

// `held` refers to `next` from now on, and no longer to what it was, which may have waited for this.
template <class S>
OCTEP_SELDOM void replace(S& s, association_word& held, association_word next) noexcept {
  if (!next.none()) s.protects.refer(associations::handle_of(next));
  if (!held.none()) {
    s.protects.drop(associations::handle_of(held));
    s.to_associate = true;
  }
  held = next;
}

}  // namespace octep::protecting
