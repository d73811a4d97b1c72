/// \file
/// nearest_name: what somebody may have meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perigee::engine::gguf {

/// Finds among the names offered the one that differs least from the one wanted.
class nearest_name {
public:
  explicit nearest_name(std::string_view wanted);

  void offer(std::string_view name);

  /// The first of the nearest; empty if all differ in more than a third.
  std::string take() const;

private:
  std::string_view wanted_;
  std::size_t distance_;
  std::string_view best_;
};

/// `raw` with '?' for what isn't printable ASCII, cut after 80 bytes: for errors.
std::string printable(std::string_view raw);

} // namespace perigee::engine::gguf
