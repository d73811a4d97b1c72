// Stands in for libFuzzer's main: runs a target over the files of a folder, each as it
// is, cut short at several places, and with single bytes changed, always in the same
// way.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using bytes = std::vector<std::uint8_t>;

void feed(const bytes& input) {
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

void feed_with_variations(const bytes& seed) {
  constexpr std::size_t variations = 64;
  feed(seed);
  for (std::size_t i = 0; i < variations && !seed.empty(); ++i) {
    auto at = i * seed.size() / variations;
    feed({seed.begin(), seed.begin() + static_cast<std::ptrdiff_t>(at)});
    auto changed = seed;
    changed[at] = static_cast<std::uint8_t>(changed[at] ^ (1u << (i % 8)));
    feed(changed);
  }
}

} // namespace

int main(int count, char** arguments) {
  std::size_t seeds = 0;
  for (int i = 1; i < count; ++i)
    for (const auto& file : std::filesystem::directory_iterator(arguments[i])) {
      std::ifstream in{file.path(), std::ios::binary};
      feed_with_variations(bytes{std::istreambuf_iterator<char>{in}, {}});
      ++seeds;
    }
  std::printf("%zu seeds\n", seeds);
  return seeds > 0 ? 0 : 1; // without a seed this shows nothing
}
