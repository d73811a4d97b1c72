#include "actors/cluster/complaint_book.hpp"

#include <algorithm>
#include <utility>

namespace perigee::cluster {
namespace {

using code = bad_input::code;

std::string nearest_key(const std::string& path,
                        const std::vector<std::string>& names) {
  return nearest(path.substr(path.rfind('.') + 1), names); // npos + 1 is 0
}

} // namespace

void complaint_book::refuse_key(const std::string& path, unsigned line,
                                const std::vector<std::string>& names) {
  add({code::unknown_key, file_, line, path, {}, {}, nearest_key(path, names)});
}

void complaint_book::refuse_key_from(const std::string& from, const std::string& path,
                                     const std::vector<std::string>& names) {
  add({code::unknown_key, from, 0, path, {}, {}, nearest_key(path, names)});
}

void complaint_book::refuse_value(const std::string& path, unsigned line,
                                  finding what) {
  add({code::wrong_value, file_, line, path, std::move(what.found),
       std::move(what.expected), std::move(what.nearest)});
}

void complaint_book::refuse_value_from(const std::string& from, const std::string& path,
                                       finding what) {
  add({code::wrong_value, from, 0, path, std::move(what.found),
       std::move(what.expected), std::move(what.nearest)});
}

void complaint_book::contradict(const std::string& path, const std::string& key,
                                finding what) {
  auto from = outside_.find(path);
  add({code::contradiction, from != outside_.end() ? from->second : file_,
       line_near(path), key, std::move(what.found), std::move(what.expected),
       std::move(what.nearest)});
}

complaints complaint_book::take() {
  std::stable_sort(wrong_.begin(), wrong_.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
  return std::exchange(wrong_, {});
}

void complaint_book::add(bad_input wrong) {
  if (wrong_.size() < complaints_max)
    wrong_.push_back(std::move(wrong));
}

/// Of the setting at `path`, or of what it would stand in.
unsigned complaint_book::line_near(std::string path) const {
  for (;;) {
    if (outside_.contains(path))
      return 0;
    if (auto at = lines_.find(path); at != lines_.end())
      return at->second;
    auto end = path.find_last_of(".[");
    if (end == std::string::npos)
      return 0;
    path.resize(end);
  }
}

} // namespace perigee::cluster
