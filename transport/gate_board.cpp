#include "transport/gate_board.hpp"

#include "schemas/assert.hpp"

#include <utility>

namespace perigee::transport {

owned_gate& owned_gate::operator=(owned_gate&& other) noexcept {
  if (this != &other) {
    end();
    board_ = std::move(other.board_);
    id_ = other.id_;
    gate_ = std::move(other.gate_);
  }
  return *this;
}

owned_gate::~owned_gate() {
  end();
}

void owned_gate::end() {
  auto ended = std::exchange(gate_, nullptr);
  if (!ended)
    return;
  board_->erase(id_); // first: who looks from now on finds none
  ended->fail();
}

std::shared_ptr<gate_board> gate_board::make(std::size_t gates_max) {
  return std::shared_ptr<gate_board>{new gate_board{gates_max}};
}

owned_gate gate_board::open(gate_id id) {
  std::lock_guard held{mutex_};
  if (gates_.size() >= gates_max_)
    return {};
  auto [at, is_new] = gates_.emplace(id, std::make_shared<gate>());
  PERIGEE_ASSERT(is_new, "two gates of one number");
  return {shared_from_this(), id, at->second};
}

gate_ptr gate_board::find(gate_id id) const {
  std::lock_guard held{mutex_};
  auto at = gates_.find(id);
  return at == gates_.end() ? nullptr : at->second;
}

std::size_t gate_board::size() const {
  std::lock_guard held{mutex_};
  return gates_.size();
}

void gate_board::erase(gate_id id) {
  std::lock_guard held{mutex_};
  gates_.erase(id);
}

} // namespace perigee::transport
