/// \file
/// course: numbers of a cluster over time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::app {

/// Plain data: a table with a row for each moment.
struct course {
  struct column {
    std::string group; ///< What it is a part of, with its unit: "bytes_moved".
    std::string name;  ///< Which part: "p0".

    bool operator==(const column&) const = default;
  };
  struct row {
    std::chrono::nanoseconds at{};
    std::vector<std::uint64_t> values; ///< One for each column.

    bool operator==(const row&) const = default;
  };

  std::vector<column> columns; ///< Those of a group stand together.
  std::vector<row> rows;

  /// The last value of `name` in `group`; 0 if there is none.
  std::uint64_t last(std::string_view group, std::string_view name) const;

  /// Whether anything of `group` was read.
  bool has(std::string_view group) const;

  /// The sum of the last values of all in `group`.
  std::uint64_t last_sum(std::string_view group) const;

  bool operator==(const course&) const = default;
};

/// Something that can be read at any time, which changes nothing.
struct reading {
  std::string group;
  std::string name;
  std::function<std::uint64_t()> read;
};

/// Reads all of some readings at fixed moments: every so often at first, and half as
/// often whenever there are as many rows as may be. So it does not grow with time. Pure.
class recorder {
public:
  using nanoseconds = std::chrono::nanoseconds;

  static constexpr std::size_t rows_max = 512;
  static_assert(rows_max % 2 == 0, "halved, it begins with a moment that is kept");

  /// The first moment is 0. `every` is above 0.
  recorder(nanoseconds every, std::vector<reading> what);

  /// When to read next.
  nanoseconds next() const {
    return next_;
  }
  void read();

  /// Reads once more, at `now`, which is not before the last moment; then it is over.
  course take(nanoseconds now);

private:
  void add(nanoseconds at);
  void thin_out();

  nanoseconds every_;
  nanoseconds next_{};
  std::vector<reading> what_;
  course so_far_;
};

} // namespace perigee::app
