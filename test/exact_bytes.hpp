// Bytes in a heap allocation of exactly their number, so that AddressSanitizer stops a read one past the end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <octep/base.hpp>

namespace octep::test {

class exact_bytes {
 public:
  exact_bytes(const u8* from, std::size_t size) : bytes_{new u8[size]} { std::copy_n(from, size, bytes_.get()); }
  [[nodiscard]] const u8* data() const noexcept { return bytes_.get(); }

 private:
  std::unique_ptr<u8[]> bytes_;
};

}  // namespace octep::test
