/// \file
/// A server over real sockets, and who answers in the front desk's place.
#pragma once

#include "actors/gateway/http_server.hpp"
#include "tests/actors/gateway/http_client.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>

namespace perigee::test {

/// Answers every call with its body, but for calls to completions: those wait for the
/// test.
class patient_desk : public gateway::front_desk {
public:
  void take(gateway::http_call call,
            std::shared_ptr<gateway::http_line> line) override {
    std::lock_guard guard{lock_};
    last_ = call;
    if (call.to == gateway::route::completion) {
      lines_[call.number] = line;
      order_.push_back(call.number);
    } else {
      line->answer({200, call.body});
    }
    news_.notify_all();
  }

  void abandon(std::uint64_t number) override {
    std::lock_guard guard{lock_};
    abandoned_.insert(number);
    news_.notify_all();
  }

  /// The number of the `nth` call that waits, from 0; waits for it.
  std::uint64_t waiting(std::size_t nth) {
    std::unique_lock guard{lock_};
    if (!news_.wait_for(guard, patience, [&] { return order_.size() > nth; }))
      throw std::runtime_error("no such call came");
    return order_[nth];
  }

  std::shared_ptr<gateway::http_line> line(std::uint64_t call) {
    std::lock_guard guard{lock_};
    return lines_.at(call);
  }

  /// Waits until `call` was abandoned; false if it never is.
  bool is_abandoned(std::uint64_t call) {
    std::unique_lock guard{lock_};
    return news_.wait_for(guard, patience, [&] { return abandoned_.contains(call); });
  }

  std::size_t abandoned() {
    std::lock_guard guard{lock_};
    return abandoned_.size();
  }

  gateway::http_call last() {
    std::lock_guard guard{lock_};
    return last_;
  }

private:
  static constexpr std::chrono::seconds patience{10};

  std::mutex lock_;
  std::condition_variable news_;
  std::map<std::uint64_t, std::shared_ptr<gateway::http_line>> lines_;
  std::vector<std::uint64_t> order_;
  std::set<std::uint64_t> abandoned_;
  gateway::http_call last_;
};

struct served {
  explicit served(gateway::http_settings how = {}) : server(open(std::move(how))) {
    server->start(desk);
  }

  /// Runs `act(line)` on the server's thread, and waits until it has.
  template <class Act>
  void with_line(std::uint64_t call, Act act) {
    std::mutex lock;
    std::condition_variable done;
    bool is_done = false;
    server->post([&] {
      act(*desk.line(call));
      std::lock_guard guard{lock};
      is_done = true;
      done.notify_all();
    });
    std::unique_lock guard{lock};
    done.wait(guard, [&] { return is_done; });
  }

  /// Whether another client is served as ever.
  bool is_well() {
    http_client other{server->port()};
    other.put(get("/health"));
    auto got = other.reply();
    return got && got->status == 200;
  }

  patient_desk desk;
  std::unique_ptr<gateway::http_server> server;

private:
  static std::unique_ptr<gateway::http_server> open(gateway::http_settings how) {
    how.port = 0;
    auto opened = gateway::http_server::open(std::move(how));
    if (!opened)
      throw std::runtime_error(opened.error());
    return std::move(*opened);
  }
};

} // namespace perigee::test
