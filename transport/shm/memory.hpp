/// \file
/// memory: memory of this process that its peers on this host can read.
#pragma once

#include "transport/shm/copy.hpp"
#include "transport/streams/shared_memory.hpp"

#include <mutex>

namespace perigee::transport::shm {

/// Gives out memory in files that exist nowhere but in memory. Who is given such a file
/// can map it to read, and nothing else: it is sealed against any other mapping that
/// writes, and against changes of its size.
///
/// Any thread may use it. What was allocated may outlive it.
class memory final : public streams::shared_memory {
public:
  /// `copying` as found by find_copying(), for both ends of moves.
  explicit memory(copying how = find_copying()) : how_(how) {}

  /// Zeros, aligned to pages; nothing is taken from the system before it is touched.
  /// Null if the system has no address space or descriptor left. `bytes` is not 0.
  std::shared_ptr<std::byte> allocate(std::size_t bytes);

  std::optional<place> find(const segment& what) const override;
  std::shared_ptr<const std::byte> map(const streams::file& from, std::uint64_t offset,
                                       std::uint64_t bytes) const override;
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) const override {
    how_.copy(to, from, bytes);
  }

private:
  struct region {
    std::size_t bytes = 0;
    std::shared_ptr<const streams::file> where;
  };

  struct book {
    mutable std::mutex mutex;
    std::map<const std::byte*, region, std::less<>> regions;
  };

  const copying how_;
  std::shared_ptr<book> book_ = std::make_shared<book>(); // regions hold it
};

} // namespace perigee::transport::shm
