#include "apps/perigee/trace/course.hpp"

#include "engine/gguf/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

namespace perigee::app::trace {
namespace {

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t x = 0;
  auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), x);
  bool is_whole = !text.empty() && end == text.data() + text.size();
  return wrong == std::errc{} && is_whole ? std::optional{x} : std::nullopt;
}

std::string trace_id(const request& one) {
  return fmt::format("{:016x}{:016x}", one.trace_high, one.trace_low);
}

bool is_called(const request& one, std::string_view wanted) {
  auto number = to_number(wanted);
  return (number && one.number == *number) || trace_id(one) == wanted;
}

bool has_attempt(const request& one, std::string_view wanted) {
  auto number = to_number(wanted);
  return number && std::ranges::count(one.attempts, *number) > 0;
}

std::string nearest(const history& all, const std::string& wanted) {
  engine::gguf::nearest_name nearest{wanted};
  std::vector<std::string> names;
  names.reserve(all.requests.size());
  for (const auto& one : all.requests)
    nearest.offer(names.emplace_back(std::to_string(one.number)));
  return nearest.take();
}

std::string unknown(const history& all, const std::string& wanted) {
  auto near = nearest(all, wanted);
  return fmt::format("there is no request '{}' among the {} here{}; `list` names them",
                     engine::gguf::printable(wanted), all.requests.size(),
                     near.empty() ? "" : ", but one called " + near);
}

} // namespace

std::vector<step> course_of(const history& all, std::size_t place) {
  auto whose = static_cast<std::int32_t>(place);
  std::vector<step> course;
  for (std::uint32_t i = 1; i < all.messages.size(); ++i)
    if (all.messages[i].request == whose)
      course.push_back({.message = i});
  auto first = std::lower_bound(all.shared.begin(), all.shared.end(),
                                std::pair{whose, std::uint32_t{0}});
  for (auto at = first; at != all.shared.end() && at->first == whose; ++at)
    course.push_back({.message = at->second, .is_shared = true});
  // Numbers follow the order of the journals, so causes come before what they cause.
  std::ranges::sort(course, {}, [&](const step& one) {
    return std::pair{all.messages[one.message].sent_at, one.message};
  });
  std::map<std::uint64_t, unsigned> depths; // by span
  for (auto& one : course) {
    const auto& sent = all.messages[one.message];
    auto cause = depths.find(sent.parent);
    one.depth = cause == depths.end() ? 0 : cause->second + 1;
    depths.emplace(sent.span, one.depth);
  }
  return course;
}

result<std::size_t, std::string> find_request(const history& all,
                                              const std::string& wanted) {
  auto colon = wanted.rfind(':');
  auto process = colon == std::string::npos ? "" : wanted.substr(0, colon);
  auto name = colon == std::string::npos ? wanted : wanted.substr(colon + 1);
  for (auto is_it : {is_called, has_attempt}) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < all.requests.size(); ++i)
      if (is_it(all.requests[i], name)
          && (process.empty() || all.requests[i].process == process))
        found.push_back(i);
    if (found.size() == 1)
      return found.front();
    if (found.size() > 1)
      return failure(fmt::format("{} requests are called {}: say {}:{}, for example",
                                 found.size(), name,
                                 all.requests[found.front()].process, name));
  }
  return failure(unknown(all, wanted));
}

} // namespace perigee::app::trace
