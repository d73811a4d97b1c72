/// \file
/// complaint: what is wrong with a line of a trace, and what was expected.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace perigee::workload {

/// Why a line is no request.
enum class cause : std::uint8_t {
  not_readable,  ///< The file itself: not there, or broken off by the system.
  empty,         ///< The whole trace: no request in it.
  line_too_long, ///< Not read further than the limit.
  malformed,     ///< No JSON object, or no row of the table.
  missing,       ///< A field isn't there.
  wrong_type,    ///< A field is no number, or no list of numbers.
  out_of_range,  ///< A number is below or above what it may be.
  out_of_order,  ///< It arrives before the request above it.
  wrong_blocks,  ///< As many blocks as the length has, and no other number.
  count,         ///< Not a cause: how many there are.
};

inline constexpr std::size_t cause_count = static_cast<std::size_t>(cause::count);

/// How many lines were passed over, by cause.
using skip_counts = std::array<std::size_t, cause_count>;

/// In words, as in "3 lines skipped: out of order".
std::string_view word(cause why);

struct complaint {
  cause why = cause::malformed;
  std::string file;
  std::size_t line = 0; ///< From 1; 0 for the file as a whole.
  std::string field;    ///< Empty for the line as a whole.
  std::string found;
  std::string expected;
};

/// Where in a trace something is looked for.
struct place {
  const std::string& file;
  std::size_t line;

  /// Shows no more than the beginning of what was `found`.
  complaint wrong(cause why, std::string field, std::string found,
                  std::string expected) const;
};

/// `t.jsonl:7: input_length: found -3; expected a whole number from 1 to 1048576`.
std::string to_string(const complaint& wrong);

} // namespace perigee::workload
