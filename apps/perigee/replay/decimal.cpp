#include "apps/perigee/replay/decimal.hpp"

#include <cmath>
#include <cstdlib>

namespace perigee::app {
namespace {

std::int64_t power_of_ten(int exponent) {
  std::int64_t power = 1;
  for (; exponent > 0; --exponent)
    power *= 10;
  return power;
}

} // namespace

double decimal::value() const {
  return static_cast<double>(scaled) / static_cast<double>(power_of_ten(digits));
}

std::string to_string(decimal number) {
  auto unit = power_of_ten(number.digits);
  auto all = std::llabs(number.scaled);
  auto text = std::string{number.scaled < 0 ? "-" : ""} + std::to_string(all / unit);
  if (number.digits == 0)
    return text;
  auto behind = std::to_string(all % unit);
  text += '.';
  text.append(static_cast<std::size_t>(number.digits) - behind.size(), '0');
  return text + behind;
}

decimal rounded(decimal number, int digits) {
  if (digits >= number.digits)
    return number;
  auto unit = power_of_ten(number.digits - digits);
  auto half = number.scaled < 0 ? -unit / 2 : unit / 2;
  return {(number.scaled + half) / unit, digits};
}

decimal percent_of(std::uint64_t part, std::uint64_t all) {
  if (all == 0)
    return {0, 4};
  return to_decimal(100 * static_cast<double>(part) / static_cast<double>(all), 4);
}

decimal per_second(std::uint64_t count, std::chrono::nanoseconds span) {
  if (span.count() <= 0)
    return {0, 3};
  return to_decimal(
    static_cast<double>(count) * 1e9 / static_cast<double>(span.count()), 3);
}

decimal to_decimal(double value, int digits) {
  return {std::llround(value * static_cast<double>(power_of_ten(digits))), digits};
}

} // namespace perigee::app
