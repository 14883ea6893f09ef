#include "bench/scalar/scalar.hpp"

extern "C" {
#ifdef OCTEP_BENCH_SCALAR_GCC
void octep_scalar_gcc_clear();
octep::u64 octep_scalar_gcc_write(const octep::tuple4*, octep::u64, octep::u64);
#endif
#ifdef OCTEP_BENCH_SCALAR_CLANG
void octep_scalar_clang_clear();
octep::u64 octep_scalar_clang_write(const octep::tuple4*, octep::u64, octep::u64);
#endif
}

namespace octep::bench {

std::vector<scalar_build> scalar_builds() {
  return {
#ifdef OCTEP_BENCH_SCALAR_GCC
      {"gcc", octep_scalar_gcc_clear, octep_scalar_gcc_write},
#endif
#ifdef OCTEP_BENCH_SCALAR_CLANG
      {"clang", octep_scalar_clang_clear, octep_scalar_clang_write},
#endif
  };
}

}  // namespace octep::bench
