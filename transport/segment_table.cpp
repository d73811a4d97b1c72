#include "transport/segment_table.hpp"

#include <limits>

namespace perigee::transport {

bool has_shape(const segment& what) {
  auto [layer_bytes, layers] = what.shape;
  if (layer_bytes == 0 || layers == 0 || what.blocks == 0)
    return false;
  constexpr auto bytes_max
    = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
  // Both factors are below 2^32, so their product is no trouble.
  return layer_bytes <= bytes_max / (std::uint64_t{layers} * what.blocks);
}

result<void, segment_fault> segment_table::add(segment what) {
  if (!has_shape(what))
    return failure(segment_fault::shapeless);
  std::lock_guard held{mutex_};
  if (segments_.contains(what.id))
    return failure(segment_fault::taken);
  if (segments_.size() >= segments_max_)
    return failure(segment_fault::full);
  segments_.emplace(what.id, std::move(what));
  return {};
}

bool segment_table::remove(segment_id id) {
  std::map<segment_id, segment>::node_type gone; // freed after the lock is
  decltype(watchers_) watchers;
  {
    std::lock_guard held{mutex_};
    gone = segments_.extract(id);
    if (gone.empty())
      return false;
    watchers = watchers_;
  }
  for (const auto& [number, told] : watchers)
    (*told)(id);
  return true;
}

std::uint64_t segment_table::watch_removals(watcher told) const {
  std::lock_guard held{mutex_};
  watchers_.emplace(++watches_total_, std::make_shared<const watcher>(std::move(told)));
  return watches_total_;
}

void segment_table::unwatch(std::uint64_t watch) const {
  std::lock_guard held{mutex_};
  watchers_.erase(watch);
}

std::optional<segment> segment_table::find(segment_id id) const {
  std::lock_guard held{mutex_};
  auto at = segments_.find(id);
  if (at == segments_.end())
    return std::nullopt;
  return at->second;
}

std::size_t segment_table::size() const {
  std::lock_guard held{mutex_};
  return segments_.size();
}

std::vector<segment_id> segment_table::ids() const {
  std::lock_guard guard{mutex_};
  std::vector<segment_id> all;
  all.reserve(segments_.size());
  for (const auto& [id, one] : segments_)
    all.push_back(id);
  return all;
}

} // namespace perigee::transport
