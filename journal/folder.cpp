#include "journal/folder.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <tuple>

namespace perigee::journal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view extension = ".journal";

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t x = 0;
  auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), x);
  bool is_whole = !text.empty() && end == text.data() + text.size();
  return wrong == std::errc{} && is_whole ? std::optional{x} : std::nullopt;
}

std::vector<fs::path> segments_in(const fs::path& folder) {
  std::vector<std::pair<std::uint64_t, fs::path>> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator{folder, ignored})
    if (auto number = parse_segment_name(entry.path().filename().string()))
      found.emplace_back(*number, entry.path());
  std::sort(found.begin(), found.end());
  std::vector<fs::path> paths;
  for (auto& one : found)
    paths.push_back(std::move(one.second));
  return paths;
}

void add_life(const fs::path& folder, std::vector<life_folder>& to) {
  auto name = parse_folder_name(folder.filename().string());
  if (!name)
    return;
  auto segments = segments_in(folder);
  if (!segments.empty())
    to.push_back({folder, name->first, name->second, std::move(segments)});
}

} // namespace

std::string folder_name(std::string_view node, std::uint64_t life) {
  return std::string{node} + '@' + std::to_string(life);
}

std::string segment_name(std::uint64_t segment) {
  char text[32];
  std::snprintf(text, sizeof text, "%08llu", static_cast<unsigned long long>(segment));
  return std::string{text}.append(extension);
}

std::optional<std::pair<std::string, std::uint64_t>>
parse_folder_name(std::string_view name) {
  auto at = name.rfind('@');
  if (at == std::string_view::npos || at == 0)
    return std::nullopt;
  auto life = to_number(name.substr(at + 1));
  if (!life)
    return std::nullopt;
  return std::pair{std::string{name.substr(0, at)}, *life};
}

std::optional<std::uint64_t> parse_segment_name(std::string_view name) {
  if (!name.ends_with(extension))
    return std::nullopt;
  return to_number(name.substr(0, name.size() - extension.size()));
}

result<std::vector<life_folder>, std::string> find_lives(const fs::path& folder) {
  std::error_code wrong;
  if (!fs::exists(folder, wrong))
    return failure(folder.string() + " is not there");
  if (!fs::is_directory(folder, wrong))
    return failure(folder.string()
                   + " is no folder: expected the one that --journal named");
  std::vector<life_folder> found;
  add_life(fs::absolute(folder / "").parent_path(), found);
  fs::directory_iterator entries{folder, wrong};
  if (wrong)
    return failure(folder.string() + " can't be read: " + wrong.message());
  for (const auto& entry : entries)
    if (entry.is_directory(wrong))
      add_life(entry.path(), found);
  if (found.empty())
    return failure(folder.string() + " holds no journal: expected files such as "
                   + folder_name("n0", 1) + "/" + segment_name(1)
                   + ", as serve and replay write them with --journal");
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.node, a.life) < std::tie(b.node, b.life);
  });
  return found;
}

} // namespace perigee::journal
