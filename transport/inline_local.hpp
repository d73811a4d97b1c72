/// \file
/// inline_local: moves within this process, by whoever calls. For virtual time.
#pragma once

#include "transport/tally.hpp"
#include "transport/transport.hpp"

#include <map>
#include <memory>

namespace perigee::transport {

/// Has no thread and no clock, so one course of calls gives one course of copies. All
/// calls, those of the gates included, come from one thread.
///
/// It copies inside submit() and inside gate::open_to(), and calls `then` there, or in
/// abort() and close(): a move that nothing holds back has been told when submit()
/// returns. Takes no notice of move::limit: who keeps the time ends what is overdue by
/// abort(id, fault::timed_out).
class inline_local final : public transport {
public:
  /// `segments` outlives this.
  explicit inline_local(const segment_table& segments,
                        std::size_t outstanding_max = 4096);
  ~inline_local() override;

  result<void, fault> submit(move_id id, move what, on_done then) override;
  void abort(move_id id, fault why) override;
  void close() override;
  statistics counted() const override;

private:
  struct job;
  using job_ptr = std::shared_ptr<job>;

  void carry_on(const job_ptr& one);
  void end(const job_ptr& one, std::optional<fault> why);

  const segment_table& segments_;
  const std::size_t outstanding_max_;
  std::map<move_id, job_ptr> jobs_;
  tally tally_;
  bool closed_ = false;
};

} // namespace perigee::transport
