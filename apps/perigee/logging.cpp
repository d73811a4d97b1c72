#include "apps/perigee/logging.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

namespace perigee::app {

const std::vector<std::string>& log_levels() {
  static const std::vector<std::string> all{"debug", "info", "warning", "error", "off"};
  return all;
}

std::shared_ptr<spdlog::logger> make_log(const std::string& level) {
  auto log = std::make_shared<spdlog::logger>(
    "perigee", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ [%n] %v");
  log->set_level(spdlog::level::from_str(level));
  log->flush_on(spdlog::level::warn);
  return log;
}

} // namespace perigee::app
