/// \file
/// calibration_rows: somebody's own measurements, as a table.
#pragma once

#include "schemas/result.hpp"

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace perigee::app {

enum class measured_kind : std::uint8_t { prefill, decode, transfer };

/// How long one thing took. What a kind has no use for is 0.
struct calibration_row {
  measured_kind kind{};
  std::uint64_t tokens = 0;    ///< prefill: of the prompt, the cached ones too.
  std::uint64_t prefix = 0;    ///< prefill: how many of them were cached.
  std::uint64_t sequences = 0; ///< decode: in the step's batch.
  std::uint64_t kv_tokens = 0; ///< decode: that the step reads, of all sequences.
  std::uint64_t bytes = 0;     ///< transfer.
  double seconds = 0;

  bool operator==(const calibration_row&) const = default;
};

/// What a table of measurements looks like, for people.
extern const char* const calibration_format;

inline constexpr std::size_t calibration_rows_max = 100'000;

/// Reads CSV: a head that names the columns, in any order, then a row for each
/// measurement. Blank lines and those that begin with # are passed over. Fails with a
/// sentence that names `file`, line, column, and what was expected.
result<std::vector<calibration_row>, std::string>
read_calibration_rows(std::istream& from, const std::string& file);

std::string to_string(measured_kind kind);

} // namespace perigee::app
