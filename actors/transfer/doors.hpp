/// \file
/// doors: how the threads of a transfer actor's transports speak to it.
#pragma once

#include "actors/runtime/doorway.hpp"

#include <map>
#include <string>
#include <string_view>

namespace perigee::transfer {

/// One for each thread: that which moves within the process, and that of each way.
class doors {
public:
  explicit doors(const rt::world& in) : in_(in), own_(in, "mover") {}

  rt::doorway& own() {
    return own_;
  }

  /// Opened before its thread starts.
  rt::doorway& open(std::string_view way) {
    std::string role{"mover_"};
    role += way;
    return ways_.try_emplace(std::string{way}, in_, role).first->second;
  }

  /// One that was opened.
  rt::doorway& at(const std::string& way) {
    return ways_.at(way);
  }

  /// Whether what `sender` said came in by one of these.
  bool has(rt::actor_tag sender) const {
    if (sender == own_.tag())
      return true;
    for (const auto& [name, one] : ways_)
      if (sender == one.tag())
        return true;
    return false;
  }

private:
  const rt::world in_;
  rt::doorway own_;
  std::map<std::string, rt::doorway> ways_;
};

} // namespace perigee::transfer
