#include "apps/perigee/calibration_rows.hpp"

#include "actors/cluster/bad_input.hpp"
#include "workload/line_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace perigee::app {

const char* const calibration_format
  = R"(A table of measurements is CSV: a head with the columns' names, a row for each.

  kind       prefill, decode or transfer
  tokens     prefill: tokens of the prompt, the cached ones too
  prefix     prefill: how many of them were cached; empty is 0
  sequences  decode: how many sequences the step decodes
  kv_tokens  decode: tokens of KV that the step reads, of all sequences
  bytes      transfer: how many were moved between two nodes
  seconds    how long it took: the whole prefill, one decode step, one transfer

What a kind has no use for is left empty. Lines that begin with # are comments.

  kind,tokens,prefix,sequences,kv_tokens,bytes,seconds
  prefill,8192,,,,,1.002
  prefill,8192,7782,,,,0.135
  decode,,,16,131072,,0.0331
  transfer,,,,,2684354560,0.03)";

namespace {

using fault = std::string;
using member = std::uint64_t calibration_row::*;

constexpr std::uint64_t quantity_max = std::uint64_t{1} << 50;
constexpr double seconds_max = 1e6;

struct quantity {
  const char* name;
  member where;
  measured_kind of;
  std::uint64_t least;
};

constexpr std::array quantities{
  quantity{"tokens", &calibration_row::tokens, measured_kind::prefill, 1},
  quantity{"prefix", &calibration_row::prefix, measured_kind::prefill, 0},
  quantity{"sequences", &calibration_row::sequences, measured_kind::decode, 1},
  quantity{"kv_tokens", &calibration_row::kv_tokens, measured_kind::decode, 1},
  quantity{"bytes", &calibration_row::bytes, measured_kind::transfer, 1},
};

const std::vector<std::string>& column_names() {
  static const std::vector<std::string> all{
    "kind", "tokens", "prefix", "sequences", "kv_tokens", "bytes", "seconds"};
  return all;
}

const std::vector<std::string>& kind_names() {
  static const std::vector<std::string> all{"prefill", "decode", "transfer"};
  return all;
}

std::string_view trimmed(std::string_view text) {
  constexpr auto blank = " \t\r";
  auto begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> all;
  for (;;) {
    auto comma = row.find(',');
    all.push_back(trimmed(row.substr(0, comma)));
    if (comma == std::string_view::npos)
      return all;
    row.remove_prefix(comma + 1);
  }
}

std::string shown(std::string_view text) {
  constexpr std::size_t bytes_max = 40;
  if (text.empty())
    return "nothing";
  return '"' + std::string{text.substr(0, bytes_max)}
         + (text.size() > bytes_max ? "...\"" : "\"");
}

std::string hint(std::string_view found, const std::vector<std::string>& names) {
  auto near = cluster::nearest(std::string{found.substr(0, 64)}, names);
  return near.empty() ? "" : "; did you mean \"" + near + "\"?";
}

/// All of `cell`, as a number, or nothing.
template <class Number>
std::optional<Number> number_in(std::string_view cell) {
  Number value{};
  auto [stop, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (code != std::errc{} || stop != cell.data() + cell.size())
    return std::nullopt;
  return value;
}

class table_reader {
public:
  table_reader(std::istream& from, const std::string& file)
    : file_(file), lines_(from) {}

  result<std::vector<calibration_row>, fault> read();

private:
  fault wrong(const std::string& column, std::string_view found,
              const std::string& expected) const {
    return file_ + ':' + std::to_string(lines_.number()) + ": "
           + (column.empty() ? "" : column + ": ") + "found " + shown(found)
           + "; expected " + expected;
  }

  /// False at the end.
  result<bool, fault> next_line();
  result<void, fault> read_head();
  result<calibration_row, fault> read_row() const;
  result<std::uint64_t, fault> read_quantity(const quantity& of, measured_kind kind,
                                             std::string_view cell) const;
  std::string_view cell(const std::vector<std::string_view>& row,
                        std::string_view name) const;

  const std::string& file_;
  workload::line_reader lines_;
  std::vector<std::string> head_;
};

result<bool, fault> table_reader::next_line() {
  using found = workload::line_reader::found;
  for (;;) {
    switch (lines_.next()) {
      case found::end: return false;
      case found::too_long: return failure(wrong("", "a longer line", "1 MiB at most"));
      case found::broken: return failure(file_ + " cannot be read to its end");
      case found::line: break;
    }
    if (auto text = trimmed(lines_.text()); !text.empty() && text.front() != '#')
      return true;
  }
}

result<void, fault> table_reader::read_head() {
  std::string_view text = lines_.text();
  if (text.starts_with("\xEF\xBB\xBF")) // Excel's byte order mark
    text.remove_prefix(3);
  const auto& known = column_names();
  for (auto name : cells_of(text)) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return failure(wrong("the head", name,
                           "columns among kind, tokens, prefix, sequences, kv_tokens, "
                           "bytes, seconds"
                             + hint(name, known)));
    if (std::find(head_.begin(), head_.end(), name) != head_.end())
      return failure(wrong("the head", name, "each column once"));
    head_.emplace_back(name);
  }
  for (const char* needed : {"kind", "seconds"})
    if (std::find(head_.begin(), head_.end(), needed) == head_.end())
      return failure(
        wrong("the head", text, "a column " + std::string{needed} + " in it"));
  return {};
}

std::string_view table_reader::cell(const std::vector<std::string_view>& row,
                                    std::string_view name) const {
  auto at = std::find(head_.begin(), head_.end(), name) - head_.begin();
  auto index = static_cast<std::size_t>(at);
  return index < head_.size() ? row[index] : std::string_view{};
}

result<std::uint64_t, fault> table_reader::read_quantity(const quantity& of,
                                                         measured_kind kind,
                                                         std::string_view cell) const {
  bool is_used = of.of == kind;
  auto value
    = cell.empty() ? std::optional<std::uint64_t>{0} : number_in<std::uint64_t>(cell);
  if (!is_used && value != std::uint64_t{0})
    return failure(wrong(of.name, cell, "nothing, for " + to_string(kind)));
  if (is_used && (!value || *value < of.least || *value > quantity_max))
    return failure(wrong(of.name, cell,
                         "a whole number from " + std::to_string(of.least) + " to "
                           + std::to_string(quantity_max)));
  return *value;
}

result<calibration_row, fault> table_reader::read_row() const {
  auto row = cells_of(lines_.text());
  if (row.size() != head_.size())
    return failure(wrong("the row", std::to_string(row.size()) + " cells",
                         std::to_string(head_.size()) + ", as the head has"));
  calibration_row made;
  auto kind = cell(row, "kind");
  const auto& kinds = kind_names();
  auto named = std::find(kinds.begin(), kinds.end(), kind);
  if (named == kinds.end())
    return failure(
      wrong("kind", kind, "prefill, decode or transfer" + hint(kind, kinds)));
  made.kind = static_cast<measured_kind>(named - kinds.begin());
  for (const auto& one : quantities) {
    auto value = read_quantity(one, made.kind, cell(row, one.name));
    if (!value)
      return failure(value.error());
    made.*one.where = *value;
  }
  if (made.kind == measured_kind::prefill && made.prefix >= made.tokens)
    return failure(wrong("prefix", cell(row, "prefix"), "less than tokens"));
  auto took = number_in<double>(cell(row, "seconds"));
  if (!took || !std::isfinite(*took) || *took <= 0 || *took > seconds_max)
    return failure(
      wrong("seconds", cell(row, "seconds"), "a number above 0, and at most 1000000"));
  made.seconds = *took;
  return made;
}

result<std::vector<calibration_row>, fault> table_reader::read() {
  std::vector<calibration_row> all;
  for (;;) {
    auto more = next_line();
    if (!more)
      return failure(more.error());
    if (!*more)
      break;
    if (head_.empty()) {
      if (auto head = read_head(); !head)
        return failure(head.error());
      continue;
    }
    if (all.size() == calibration_rows_max)
      return failure(wrong("", "another row", "100000 rows at most"));
    auto row = read_row();
    if (!row)
      return failure(row.error());
    all.push_back(*row);
  }
  if (all.empty())
    return failure(file_
                   + ": no row in it; expected a head and a row for each "
                     "measurement");
  return all;
}

} // namespace

std::string to_string(measured_kind kind) {
  return kind_names()[static_cast<std::size_t>(kind)];
}

result<std::vector<calibration_row>, std::string>
read_calibration_rows(std::istream& from, const std::string& file) {
  return table_reader{from, file}.read();
}

} // namespace perigee::app
