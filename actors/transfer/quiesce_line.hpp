/// \file
/// quiesce_line: who waits until a writer's movements are over.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/desk.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace perigee::transfer {

/// The owner of an arena, who has asked by a Quiesce.
struct quiesce {
  std::variant<shard_name, decode_name> who;
  std::uint64_t ticket;
  rt::cause why;
  rt::actor_tag writer;
  node_index where; ///< It was.
};

/// Bounded: it keeps as many as there may be movements.
class quiesce_line {
public:
  explicit quiesce_line(std::size_t waiting_max) : waiting_max_(waiting_max) {}

  /// False if there is no room. Then it has to ask again.
  bool join(const quiesce& one) {
    if (waiting_.size() >= waiting_max_)
      return false;
    waiting_.push_back(one);
    return true;
  }

  /// Those who waited for `writer` of the node `where`, oldest first.
  std::vector<quiesce> take(rt::actor_tag writer, node_index where) {
    return take_if(
      [=](const quiesce& one) { return one.writer == writer && one.where == where; });
  }

  /// Those who waited for any writer of that node, oldest first.
  std::vector<quiesce> take_of(node_index where) {
    return take_if([=](const quiesce& one) { return one.where == where; });
  }

private:
  template <class Is>
  std::vector<quiesce> take_if(Is is) {
    auto first = std::stable_partition(waiting_.begin(), waiting_.end(),
                                       [&](const quiesce& one) { return !is(one); });
    std::vector<quiesce> over(first, waiting_.end());
    waiting_.erase(first, waiting_.end());
    return over;
  }

  std::size_t waiting_max_;
  std::vector<quiesce> waiting_;
};

} // namespace perigee::transfer
