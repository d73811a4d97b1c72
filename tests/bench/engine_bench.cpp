// The same as `perigee bench engine`, with nothing else of the program around it.
#include "apps/perigee/bench_engine.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

int main(int count, char** arguments) {
  perigee::app::engine_bench how;
  for (int i = 1; i < count; ++i) {
    std::string_view it = arguments[i];
    if (it == "--with-load")
      how.with_load = true;
    else if (it == "--kv-f32")
      how.kv_f32 = true;
    else if (it == "--threads" && i + 1 < count)
      how.threads = std::strtoul(arguments[++i], nullptr, 10);
    else if (it == "--kernels" && i + 1 < count)
      how.kernels = arguments[++i];
    else
      how.model = it;
  }
  if (how.model.empty()) {
    std::fprintf(stderr,
                 "usage: engine_bench model.gguf [--threads N] [--kernels NAME] "
                 "[--kv-f32] [--with-load]\n");
    return 2;
  }
  return perigee::app::bench_engine(how);
}
