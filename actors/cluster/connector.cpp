#include "actors/cluster/connector.hpp"

#include <algorithm>

namespace perigee::cluster {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds wait_first = 50ms, wait_most = 2s,
                                   wait_again = 500ms;

// A peer that was stopped takes connections, and never answers.
constexpr std::chrono::nanoseconds answer_limit = 3s;

} // namespace

connector::connector(const rt::world& in, const cluster_actor& whom,
                     std::shared_ptr<dial_list> list, rt::network& network,
                     std::vector<node_address> nodes)
  : whom_(face_of(whom)), list_(std::move(list)), network_(network),
    nodes_(std::move(nodes)) {
  for (const auto& to : nodes_) {
    auto named = in;
    named.where.index = static_cast<std::uint32_t>(to.which);
    doors_.push_back(std::make_unique<rt::doorway>(named, "connector"));
    threads_.emplace_back([this, &to, &door = *doors_.back()] { serve(to, door); });
  }
}

connector::~connector() {
  list_->close();
  for (auto& one : threads_)
    one.join();
}

void connector::serve(const node_address& to, rt::doorway& door) {
  while (auto is_again = list_->take(to.which))
    if (!*is_again || list_->sleep(wait_again))
      connect(to, door);
}

/// Again and again, until somebody is there.
void connector::connect(const node_address& to, rt::doorway& door) {
  auto wait = wait_first;
  do {
    auto found = network_.connect<receiving_actor>(to.address, to.port, answer_limit);
    if (found)
      return door.tell<schema::Found>(
        whom_, rt::unprompted,
        [&](schema::Found::Builder news) {
          news.setIndex(static_cast<std::uint32_t>(to.which));
        },
        *found);
    wait = std::min(2 * wait, wait_most);
  } while (list_->sleep(wait));
}

} // namespace perigee::cluster
