/// \file
/// What a rejector counts.
#pragma once

#include "actors/conductor/refusal.hpp"
#include "actors/runtime/counter.hpp"
#include "actors/runtime/gauge.hpp"

#include <array>
#include <cstddef>

namespace perigee::rejector {

/// The actor says what happened, by verb; an exporter reads what came of it, by name.
class probe {
public:
  void arrived() noexcept {
    arrivals_total_.add();
  }

  void refused(conductor::reason why) noexcept {
    refused_total_[static_cast<std::size_t>(why)].add();
  }

  void dropped_stale() noexcept {
    stale_total_.add();
  }

  /// Shares of the cluster's objectives.
  void sees(double prefill_load, double decode_load) noexcept {
    prefill_load_permille_.set(to_permille(prefill_load));
    decode_load_permille_.set(to_permille(decode_load));
  }

  std::uint64_t refused_total(conductor::reason why) const noexcept {
    return refused_total_[static_cast<std::size_t>(why)].value();
  }

  std::uint64_t prefill_load_permille() const noexcept {
    return prefill_load_permille_.value();
  }

  std::uint64_t decode_load_permille() const noexcept {
    return decode_load_permille_.value();
  }

  /// Shows each number to `see(name, help, value)`. Names without `_total` may fall.
  template <class See>
  void each(See see) const {
    auto of = [this](conductor::reason why) { return refused_total(why); };
    see("arrivals_total", "Requests that came", arrivals_total_.value());
    see("refused_prefill_total", "Requests turned away: the prefill load is high",
        of(conductor::reason::prefill_load));
    see("refused_decode_total", "Requests turned away: the decode load is high",
        of(conductor::reason::decode_load));
    see("refused_no_instance_total",
        "Requests turned away: nobody is there to serve them",
        of(conductor::reason::no_instance));
    see("stale_total", "Messages dropped: of who has its name no longer",
        stale_total_.value());
    see("prefill_load_permille", "Prefill load, by the last load book",
        prefill_load_permille_.value());
    see("decode_load_permille", "Decode load, by the last load book",
        decode_load_permille_.value());
  }

private:
  static std::uint64_t to_permille(double load) noexcept {
    constexpr double most = 1e6; // and what is infinite
    return static_cast<std::uint64_t>((load < most ? load : most) * 1000);
  }

  static constexpr std::size_t reasons
    = static_cast<std::size_t>(conductor::reason::no_instance) + 1;

  rt::counter arrivals_total_;
  std::array<rt::counter, reasons> refused_total_;
  rt::counter stale_total_;
  rt::gauge prefill_load_permille_;
  rt::gauge decode_load_permille_;
};

} // namespace perigee::rejector
