/// \file
/// Where journals are: a folder has one inside for each life of each node.
#pragma once

#include "schemas/result.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perigee::journal {

/// The journal of one process: `under/n0@3/00000001.journal`, and so on.
struct life_folder {
  std::filesystem::path path;
  std::string node;
  std::uint64_t life = 0;
  std::vector<std::filesystem::path> segments; ///< Oldest first. Never empty.
};

std::string folder_name(std::string_view node, std::uint64_t life);
std::string segment_name(std::uint64_t segment);

/// Node and life, or nothing.
std::optional<std::pair<std::string, std::uint64_t>>
parse_folder_name(std::string_view name);
std::optional<std::uint64_t> parse_segment_name(std::string_view name);

/// All journals under `folder`, by node, then by life; what else is there is passed
/// over. `folder` may also be that of one life. Fails with a sentence: not there, no
/// folder, or no journal in it.
result<std::vector<life_folder>, std::string>
find_lives(const std::filesystem::path& folder);

} // namespace perigee::journal
