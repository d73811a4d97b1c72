/// \file
/// What the HTTP server counts.
#pragma once

#include "actors/runtime/counter.hpp"

#include <cstddef>

namespace perigee::gateway {

/// The server's thread says what happened; an exporter reads what came of it.
class http_probe {
public:
  void connected() {
    accepted_.add();
  }
  void turned_away() {
    turned_away_.add();
  }
  void disconnected() {
    closed_.add();
  }
  void called() {
    calls_.add();
  }
  void abandoned() {
    abandoned_.add();
  }
  void timed_out() {
    timed_out_.add();
  }
  void malformed() {
    malformed_.add();
  }
  void overflowed() {
    overflowed_.add();
  }
  void wrote(std::size_t bytes) {
    sent_.add(bytes);
  }
  void answered(int status) {
    (status < 400   ? answers_ok_
     : status < 500 ? answers_client_
                    : answers_server_)
      .add();
  }

  std::uint64_t connections_total() const {
    return accepted_.value();
  }
  std::uint64_t connections_refused_total() const {
    return turned_away_.value();
  }
  std::uint64_t connections_open() const {
    return accepted_.value() - closed_.value();
  }
  std::uint64_t calls_total() const {
    return calls_.value();
  }
  std::uint64_t calls_abandoned_total() const {
    return abandoned_.value();
  }
  std::uint64_t timeouts_total() const {
    return timed_out_.value();
  }
  std::uint64_t malformed_total() const {
    return malformed_.value();
  }
  std::uint64_t slow_readers_total() const {
    return overflowed_.value();
  }
  std::uint64_t sent_bytes_total() const {
    return sent_.value();
  }
  std::uint64_t answers_ok_total() const {
    return answers_ok_.value();
  }
  std::uint64_t answers_client_error_total() const {
    return answers_client_.value();
  }
  std::uint64_t answers_server_error_total() const {
    return answers_server_.value();
  }

private:
  rt::counter accepted_;
  rt::counter turned_away_;
  rt::counter closed_;
  rt::counter calls_;
  rt::counter abandoned_;
  rt::counter timed_out_;
  rt::counter malformed_;
  rt::counter overflowed_;
  rt::counter sent_;
  rt::counter answers_ok_;
  rt::counter answers_client_;
  rt::counter answers_server_;
};

} // namespace perigee::gateway
