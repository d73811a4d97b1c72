/// \file
/// gate_board: finds the gates of a process by the numbers that messages call them.
#pragma once

#include "transport/gate.hpp"

#include <map>

namespace perigee::transport {

/// Names a gate in a process. Its owner chooses, and never the same again.
enum class gate_id : std::uint64_t {};

class gate_board;

/// Owns a gate that stands on a board: at its end the gate fails, so that nobody waits
/// on, and leaves the board. Whoever found it before may go on using it.
class owned_gate {
public:
  owned_gate() = default;
  owned_gate(owned_gate&& other) noexcept = default;
  owned_gate& operator=(owned_gate&& other) noexcept;
  ~owned_gate();

  /// False for one that was refused a place on the board, or was moved from.
  explicit operator bool() const noexcept {
    return gate_ != nullptr;
  }

  gate_id id() const noexcept {
    return id_;
  }

  gate& operator*() const noexcept {
    return *gate_;
  }

  gate* operator->() const noexcept {
    return gate_.get();
  }

private:
  friend class gate_board;
  owned_gate(std::shared_ptr<gate_board> board, gate_id id, gate_ptr made)
    : board_(std::move(board)), id_(id), gate_(std::move(made)) {}

  void end();

  std::shared_ptr<gate_board> board_;
  gate_id id_{};
  gate_ptr gate_;
};

/// Where the actors of a node leave gates for each other's threads.
///
/// Who asks for work on both sides of a gate makes it, before it tells either side of
/// it, and owns it until both have answered. The sides find it by its number. One that
/// isn't here has no owner any more, and what it stood for will not come. So a gate
/// cannot be left behind: an actor that dies takes its gates with it, and those who
/// wait hear so.
///
/// Any thread may use it. Bounded.
class gate_board : public std::enable_shared_from_this<gate_board> {
public:
  static std::shared_ptr<gate_board> make(std::size_t gates_max = 65'536);

  /// Makes the gate `id`. Nothing (false) if the board is full: that is `busy`. A
  /// number that is on the board already is a bug.
  owned_gate open(gate_id id);

  /// The gate `id`, or null.
  gate_ptr find(gate_id id) const;

  std::size_t size() const;

private:
  friend class owned_gate;
  explicit gate_board(std::size_t gates_max) : gates_max_(gates_max) {}

  void erase(gate_id id);

  const std::size_t gates_max_;
  mutable std::mutex mutex_;
  std::map<gate_id, gate_ptr> gates_;
};

} // namespace perigee::transport
