/// \file
/// history_reader: from records to a history.
#pragma once

#include "apps/perigee/trace/answers.hpp"
#include "journal/segment_reader.hpp"

#include <functional>

namespace perigee::app::trace {

/// Calls `see` for every record of `lives`, one segment after the other. What can't be
/// read comes back as warnings; what follows it in its segment is passed over.
std::vector<std::string>
for_each_record(const std::vector<journal::life_folder>& lives,
                const std::function<void(const journal::record&)>& see);

class history_reader {
public:
  explicit history_reader(const message_book& book) : book_(book), notes_(all_) {}

  void take(const journal::record& one);

  /// After the last one.
  history finish();

private:
  void on(const journal::opening& one);
  void on(const journal::introduction& one);
  void on(const journal::sending& one);
  void on(const journal::taking& one);
  void on(const journal::absence& one);
  void on(const journal::failing& one);
  void on(const journal::missing& one);
  void on(const journal::losing& one);
  void on(const journal::gap& one);

  std::uint32_t actor_of(std::uint64_t tag);
  std::uint32_t message_of(const journal::message& what);
  void fill(std::uint32_t place, const journal::message& what);
  std::uint32_t begin(std::uint32_t by, std::uint32_t of, std::int64_t at);

  const message_book& book_;
  history all_;
  answers notes_;
  std::unordered_map<std::uint64_t, std::uint32_t> actors_; ///< By tag.
  std::vector<std::uint32_t> handling_now_{0};              ///< By actor.
  std::int64_t offset_ = 0;
  std::int64_t now_ = 0;
};

} // namespace perigee::app::trace
