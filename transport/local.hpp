/// \file
/// local: moves within this process, by a thread of its own.
#pragma once

#include "transport/transport.hpp"

#include <memory>
#include <thread>

namespace perigee::transport {

struct local_options {
  std::size_t outstanding_max = 4096;

  /// Bytes that are copied before somebody else has a turn, or an abort is heeded.
  std::uint64_t turn_bytes = std::uint64_t{1} << 20;
};

/// Copies with one thread, which sleeps while all moves wait for gates. Moves of one
/// priority take turns; a lower priority goes slower, but goes.
class local final : public transport {
public:
  /// `segments` outlives this.
  explicit local(const segment_table& segments, local_options how = {});
  ~local() override;

  result<void, fault> submit(move_id id, move what, on_done then) override;
  void abort(move_id id, fault why) override;
  void close() override;
  statistics counted() const override;

private:
  struct job;
  class porter;

  const segment_table& segments_;
  std::shared_ptr<porter> porter_; // gates hold it, weakly
  std::thread thread_;
};

} // namespace perigee::transport
