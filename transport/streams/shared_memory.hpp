/// \file
/// shared_memory: memory of one process that another can see, and what is seen of it.
#pragma once

#include "transport/segment_table.hpp"
#include "transport/streams/file.hpp"

#include <map>

namespace perigee::transport::streams {

/// What a back end does on one host. Any thread may use it.
class shared_memory {
public:
  virtual ~shared_memory() = default;

  struct place {
    std::shared_ptr<const file> where;
    std::uint64_t offset = 0;
  };

  /// The file that holds the memory of `what`; nothing if none does.
  virtual std::optional<place> find(const segment& what) const = 0;

  /// Bytes [offset, offset + bytes) of a peer's file, to be read as long as this lives.
  /// Null if they are not there, or the file is one that could shrink under a reader.
  virtual std::shared_ptr<const std::byte> map(const file& from, std::uint64_t offset,
                                               std::uint64_t bytes) const = 0;

  /// As memcpy().
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes) const = 0;
};

/// What this side sees of a peer's memory.
class peer_views {
public:
  /// `by` may be null: then nothing is ever seen.
  peer_views(const shared_memory* by, std::size_t segments_max)
    : by_(by), segments_max_(segments_max) {}

  const shared_memory* by() const {
    return by_;
  }

  /// False if there is nothing to see, or as much is seen as may be. A segment that is
  /// seen already stays as it is.
  bool add(segment_id which, const file& from, std::uint64_t offset,
           std::uint64_t bytes) {
    if (all_.contains(which))
      return true;
    if (!by_ || all_.size() >= segments_max_)
      return false;
    auto begin = by_->map(from, offset, bytes);
    if (!begin)
      return false;
    all_.emplace(which, view{std::move(begin), bytes});
    return true;
  }

  struct view {
    std::shared_ptr<const std::byte> begin;
    std::uint64_t bytes = 0;
  };

  /// Null if it is not seen.
  const view* find(segment_id which) const {
    auto at = all_.find(which);
    return at == all_.end() ? nullptr : &at->second;
  }

private:
  const shared_memory* by_;
  const std::size_t segments_max_;
  std::map<segment_id, view> all_;
};

} // namespace perigee::transport::streams
