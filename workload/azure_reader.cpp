#include "workload/azure_reader.hpp"

#include <charconv>

namespace perigee::workload {
namespace {

constexpr auto head_expected
  = "a head with TIMESTAMP, ContextTokens and GeneratedTokens";

/// Azure quotes nothing, so neither is anything unquoted.
std::vector<std::string_view> cells(std::string_view row) {
  std::vector<std::string_view> all;
  for (;;) {
    auto comma = row.find(',');
    auto cell = row.substr(0, comma);
    while (!cell.empty() && cell.front() == ' ')
      cell.remove_prefix(1);
    while (!cell.empty() && cell.back() == ' ')
      cell.remove_suffix(1);
    all.push_back(cell);
    if (comma == std::string_view::npos)
      return all;
    row.remove_prefix(comma + 1);
  }
}

/// Takes `digits` digits and the `end` behind them from the front of `text`.
std::optional<int> take(std::string_view& text, std::size_t digits,
                        std::string_view ends) {
  int value = 0;
  if (text.size() < digits)
    return {};
  auto [stop, code] = std::from_chars(text.data(), text.data() + digits, value);
  if (code != std::errc{} || stop != text.data() + digits || value < 0)
    return {};
  text.remove_prefix(digits);
  if (ends.empty())
    return value;
  if (text.empty() || ends.find(text.front()) == std::string_view::npos)
    return {};
  text.remove_prefix(1);
  return value;
}

/// `.68059` as nanoseconds; 0 if there is no point.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  if (text.empty() || text.front() != '.')
    return 0;
  text.remove_prefix(1);
  std::int64_t value = 0;
  std::int64_t unit = 1'000'000'000;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
    if (unit > 1) {
      unit /= 10;
      value += (text[digits] - '0') * unit;
    }
  if (digits == 0)
    return {};
  text.remove_prefix(digits);
  return value;
}

} // namespace

std::optional<std::int64_t> utc_nanoseconds(std::string_view text) {
  auto year = take(text, 4, "-");
  auto month = year ? take(text, 2, "-") : year;
  auto day = month ? take(text, 2, " T") : month;
  auto hour = day ? take(text, 2, ":") : day;
  auto minute = hour ? take(text, 2, ":") : hour;
  auto second = minute ? take(text, 2, "") : minute;
  auto fraction = second ? take_fraction(text) : std::nullopt;
  if (!fraction || *hour > 23 || *minute > 59 || *second > 60 || *year < 1970
      || *year > 2200 || !(text.empty() || text == "Z" || text == "+00:00"))
    return {};
  std::chrono::year_month_day date{std::chrono::year{*year},
                                   std::chrono::month{static_cast<unsigned>(*month)},
                                   std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok())
    return {};
  std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  std::int64_t seconds = ((days * 24 + *hour) * 60 + *minute) * 60 + *second;
  return seconds * 1'000'000'000 + *fraction;
}

azure_reader::azure_reader(std::istream& from, std::string file, strictness how)
  : line_source{from, std::move(file), how, "a head and a row for each request"} {}

result<azure_reader::columns, complaint> azure_reader::read_head() const {
  std::string_view text = line();
  if (text.starts_with("\xEF\xBB\xBF")) // Excel's byte order mark
    text.remove_prefix(3);
  auto names = cells(text);
  auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name)
                                    - names.begin());
  };
  columns all{column("TIMESTAMP"), column("ContextTokens"), column("GeneratedTokens")};
  if (std::max({all.timestamp, all.context, all.generated}) == names.size())
    return failure(
      here().wrong(cause::malformed, "", std::string{text}, head_expected));
  return all;
}

result<std::uint32_t, complaint> azure_reader::length(std::string_view cell,
                                                      const char* name) const {
  auto expected = "a whole number from 1 to " + std::to_string(tokens_max);
  std::string shown{cell};
  std::int64_t value = 0;
  auto [stop, code] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (code == std::errc::result_out_of_range)
    return failure(here().wrong(cause::out_of_range, name, shown, expected));
  if (cell.empty() || code != std::errc{} || stop != cell.data() + cell.size())
    return failure(here().wrong(cell.empty() ? cause::missing : cause::wrong_type, name,
                                shown, expected));
  if (value < 1 || value > static_cast<std::int64_t>(tokens_max))
    return failure(here().wrong(cause::out_of_range, name, shown, expected));
  return static_cast<std::uint32_t>(value);
}

next_request azure_reader::read_row() {
  auto row = cells(line());
  if (row.size()
      <= std::max({columns_->timestamp, columns_->context, columns_->generated}))
    return failure(here().wrong(cause::malformed, "",
                                "a row of " + std::to_string(row.size()) + " cells",
                                "as many as the head has"));
  std::string time{row[columns_->timestamp]};
  auto now = utc_nanoseconds(time);
  if (!now)
    return failure(here().wrong(time.empty() ? cause::missing : cause::wrong_type,
                                "TIMESTAMP", time,
                                "a time as 2023-11-16 18:15:46.6805900"));
  auto arrival = std::chrono::nanoseconds{*now - begin_ns_.value_or(*now)};
  if (arrival < latest())
    return failure(here().wrong(cause::out_of_order, "TIMESTAMP", time,
                                "a time not before that of the row above"));
  if (arrival > arrival_max)
    return failure(here().wrong(cause::out_of_range, "TIMESTAMP", time,
                                "a time within 366 days of the first"));
  auto input = length(row[columns_->context], "ContextTokens");
  if (!input)
    return failure(input.error());
  auto output = length(row[columns_->generated], "GeneratedTokens");
  if (!output)
    return failure(output.error());
  begin_ns_ = begin_ns_.value_or(*now);
  return std::optional{
    request{arrival, *input, *output, numbers_.chain({}, 0, *input), {}}};
}

next_request azure_reader::read_line() {
  if (columns_)
    return read_row();
  auto head = read_head();
  if (!head)
    return failure(head.error());
  columns_ = *head;
  return std::optional<request>{};
}

} // namespace perigee::workload
