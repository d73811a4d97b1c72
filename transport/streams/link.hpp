/// \file
/// link: one of the connections between two processes, once they have met.
#pragma once

#include "transport/streams/event_loop.hpp"
#include "transport/streams/frame.hpp"
#include "transport/streams/parts.hpp"
#include "transport/streams/stream.hpp"

#include <deque>

namespace perigee::transport::streams {

/// A frame to be sent, with its payload, straight from memory.
struct parcel {
  std::vector<std::byte> head;
  parts payload{};
  std::shared_ptr<const void> keep_alive{}; ///< Owns the payload.
  std::shared_ptr<const file> passed{};
};

/// Where the payload of a frame that has come goes, straight from the connection.
struct sink {
  parts payload{};
  std::shared_ptr<const void> keep_alive{}; ///< Owns the payload.
  std::function<void()> then{};             ///< Called when it is filled, unless null.
};

/// Frames both ways, in the thread of a loop.
class link {
public:
  /// Who hears of what comes. None of these destroys the link.
  class owner {
  public:
    virtual ~owner() = default;

    /// Where the payload of `what` is to go: of no bytes, where it has none.
    virtual result<sink, loss> on_frame(link& from, frame what) = 0;

    /// Bytes have come, or gone.
    virtual void on_progress() = 0;

    /// All that has happened to this link has been told for now.
    virtual void on_rest() = 0;

    /// Nothing will come any more, nor go.
    virtual void on_loss(loss why) = 0;
  };

  link(event_loop& loop, std::shared_ptr<stream> over, owner& told);
  ~link();

  /// Puts it in line; flush() sends it. Answers overtake requests.
  void ask(parcel what);
  void answer(parcel what);

  void flush();

  /// Answers that have not wholly been sent.
  std::size_t answers_waiting() const {
    return answers_waiting_;
  }

  bool has_waiting() const {
    return !sending_.empty() || !answers_.empty() || !requests_.empty();
  }

  /// Takes a file that came along with a frame.
  std::optional<file> take_file() {
    return stream_->take_file();
  }

  // What the owner has asked over this, and has no answer to yet.
  std::size_t asked_requests = 0;
  std::uint64_t asked_bytes = 0;

private:
  struct shipment { // a parcel, as far as it has gone
    parcel what;
    parts head;
    bool is_answer;
  };

  void on_events(std::uint32_t events);
  void read();
  void absorb(std::size_t bytes);
  bool begin_frame(std::span<const std::byte>& from);
  void load();
  progress send_some();
  void sent(std::size_t bytes);
  void mind_room();
  void lose(loss why);

  event_loop& loop_;
  std::shared_ptr<stream> stream_;
  owner& told_;
  event_loop::watch_id watch_ = 0;
  event_loop::watch_id life_ = 0;
  bool minds_room_ = false;
  bool is_lost_ = false;

  frame_parser parser_;
  std::optional<sink> sink_; // of the frame at hand
  std::vector<std::byte> inbox_;

  std::deque<parcel> answers_;
  std::deque<parcel> requests_;
  std::deque<shipment> sending_; // their order is decided
  std::size_t answers_waiting_ = 0;
};

} // namespace perigee::transport::streams
