/// \file
/// Traces as tests write them down.
#pragma once

#include "workload/mooncake_reader.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace perigee::workload {

/// All that a source gives, until its end or its first complaint.
struct reading {
  std::vector<request> requests;
  std::optional<complaint> wrong;
};

inline reading read_all(request_source& from) {
  reading all;
  for (;;) {
    auto got = from.next();
    if (!got) {
      all.wrong = got.error();
      return all;
    }
    if (!*got)
      return all;
    all.requests.push_back(std::move(**got));
  }
}

inline reading read_text(const std::string& text, strictness how = strictness::strict) {
  std::istringstream from{text};
  mooncake_reader reader{from, "t.jsonl", how};
  return read_all(reader);
}

/// A published trace beside the source tree, or where PERIGEE_TRACES says; or nothing.
inline std::optional<std::string> published_trace(const std::string& name) {
  namespace fs = std::filesystem;
  const char* said = std::getenv("PERIGEE_TRACES");
  fs::path folder = said != nullptr ? fs::path{said}
                                    : fs::path{PERIGEE_SOURCE_DIR} / "../shared/traces";
  auto file = folder / name;
  return fs::exists(file) ? std::optional{file.string()} : std::nullopt;
}

} // namespace perigee::workload
