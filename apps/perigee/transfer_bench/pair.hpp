/// \file
/// pair: two transports that know each other, and how fast they move blocks.
#pragma once

#include "transport/peer.hpp"

#include <array>
#include <string>

namespace perigee::app::transfer_bench {

enum class kind : std::uint8_t { shm, tcp, rdma };
enum class way : std::uint8_t { write, read };

/// What is measured at once.
struct load {
  way direction = way::write;
  std::size_t bytes = 0;   ///< Of a move: one block.
  std::size_t threads = 1; ///< Who submit, each for itself.
  std::size_t depth = 1;   ///< Moves that each has under way.
};

struct rate {
  double bytes_per_s = 0;
  std::chrono::nanoseconds median{}; ///< From submit() until it is heard of.
};

/// The RDMA devices of the two sides; without names, all of the machine for both.
using device_names = std::array<std::string, 2>;

/// Two processes in one, each with a transport and so much memory.
class pair {
public:
  static constexpr std::size_t memory_bytes = std::size_t{128} << 20;

  virtual ~pair() = default;

  /// Says why there is none.
  static result<std::unique_ptr<pair>, std::string> make(kind what,
                                                         const device_names& devices);

  /// Moves block after block for `time`. `how.bytes` divides memory_bytes.
  virtual result<rate, std::string> run(const load& how, std::chrono::nanoseconds time)
    = 0;
};

} // namespace perigee::app::transfer_bench
