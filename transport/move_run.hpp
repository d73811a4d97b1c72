/// \file
/// move_run: one move inside a process, as far as it has come.
#pragma once

#include "transport/move.hpp"

#include <optional>

namespace perigee::transport {

/// Bytes that lie together on both sides.
struct slice {
  std::uint64_t from = 0; ///< Bytes from the segment's begin.
  std::uint64_t to = 0;
  std::uint64_t bytes = 0;

  bool operator==(const slice&) const = default;
};

/// Whether all that `what` names is there in segments that are registered. Any numbers
/// may be in it.
bool fits(const move& what, const segment& from, const segment& to);

/// Walks over the slices of a move that fits.
///
/// Where a gate is involved, it goes layer by layer, for that is how gates open. Else
/// it goes block by block, and neighbours that are neighbours on both sides are one
/// slice.
class slice_walk {
public:
  slice_walk(const move& what, geometry shape);

  /// Nothing at the end. At most `bytes_max` bytes, at least one.
  std::optional<slice> next(std::uint64_t bytes_max);

  /// Walks over all that belongs to the layer at hand; to all layers, where no gate is
  /// involved. Returns how many bytes that is. To be called where a layer begins.
  std::uint64_t skip_layer();

  bool at_end() const {
    return row_ == rows_;
  }

  /// Layers [first, this) have been walked over. Before the end, only meaningful where
  /// a gate is involved.
  std::uint32_t layer() const {
    return by_layer_ || at_end() ? layers_.first + row_ : layers_.first;
  }

private:
  slice whole(std::size_t pair) const;

  geometry shape_;
  layer_range layers_;
  const std::vector<block_pair>* pairs_;
  bool by_layer_;
  std::uint32_t rows_; // layers, or 1
  std::uint32_t row_ = 0;
  std::size_t pair_ = 0;
  std::uint64_t done_ = 0; // bytes of the pair at hand
};

/// Whether a layer of a move may be read.
enum class opening : std::uint8_t { open, awaited, never };
opening opening_of(const move& what, std::uint32_t layer);

/// A move between two segments of this process, copied a turn at a time.
class move_run {
public:
  /// Refuses with out_of_range.
  static result<move_run, fault> begin(move what, segment from, segment to);

  enum class state : std::uint8_t {
    ready,   ///< The next turn has something to do.
    waiting, ///< For its gate.
    done,
    starved,
  };

  state look() const;

  /// Copies what is open, at most `bytes_max` bytes, or a layer where there is no memory
  /// to copy, and opens the gate for layers that
  /// have wholly arrived. Once at least, even if done from the beginning.
  void turn(std::uint64_t bytes_max);

  /// What this came to. Of a fault, those who wait for `opens` hear as well.
  outcome end(std::optional<fault> why);

  const move& what() const {
    return *what_;
  }

private:
  move_run(move what, segment from, segment to);

  bool has_memory() const;
  std::uint64_t copy(const slice& part);

  std::unique_ptr<const move> what_; // the walk points into it
  segment from_;
  segment to_;
  slice_walk walk_;
  std::uint64_t bytes_ = 0;
};

} // namespace perigee::transport
