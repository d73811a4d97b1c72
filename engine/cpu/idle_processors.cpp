#include "engine/cpu/idle_processors.hpp"

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace perigee::engine::cpu {
namespace {

struct ticks {
  std::uint64_t idle = 0;
  std::uint64_t all = 0;
};

// Lines such as "cpu3 user nice system idle iowait irq softirq steal ...".
std::map<std::size_t, ticks> read_ticks(std::string_view stat) {
  constexpr std::size_t idle_field = 3, iowait_field = 4, fields = 8;
  std::map<std::size_t, ticks> found;
  std::istringstream lines{std::string(stat)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] < '0' || line[3] > '9')
      continue;
    std::istringstream words(line.substr(3));
    std::size_t processor = 0;
    words >> processor;
    ticks here;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < fields && words >> number; ++i) {
      here.all += number;
      if (i == idle_field || i == iowait_field)
        here.idle += number;
    }
    found[processor] = here;
  }
  return found;
}

std::string stat_now() {
  std::ifstream file("/proc/stat");
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

std::vector<std::size_t> idle_between(std::string_view before, std::string_view after) {
  auto first = read_ticks(before);
  std::vector<std::size_t> idle;
  for (const auto& [processor, then] : read_ticks(after)) {
    auto since = first.find(processor);
    if (since == first.end() || then.all <= since->second.all)
      continue;
    auto all = then.all - since->second.all;
    auto rest = then.idle - std::min(then.idle, since->second.idle);
    if (rest * 10 >= all * 9)
      idle.push_back(processor);
  }
  return idle;
}

std::vector<std::size_t> idle_processors() {
  auto before = stat_now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  cpu_set_t ours;
  CPU_ZERO(&ours);
  if (::sched_getaffinity(0, sizeof(ours), &ours) != 0)
    return {};
  auto idle = idle_between(before, stat_now());
  std::erase_if(idle, [&](std::size_t processor) {
    return processor >= CPU_SETSIZE || !CPU_ISSET(processor, &ours);
  });
  return idle;
}

} // namespace perigee::engine::cpu
