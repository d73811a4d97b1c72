/// \file
/// sequence_table: what an engine host keeps of the sequences that its engine runs.
#pragma once

#include "engine/engine.hpp"
#include "schemas/forward.capnp.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace perigee::engine_host {

/// One sequence, from the Forward that begins it to the one that ends it.
struct sequence {
  engine::sampling_params how;
  std::vector<engine::token_id> seen;     ///< Of the prompt, for the penalties.
  std::vector<engine::token_id> answered; ///< All that was drawn, here and elsewhere.
  engine::sampler pick;
  std::vector<std::uint32_t> blocks;
  std::vector<float> last_row; ///< Logits after the last token fed, if it was scored.

  bool is_stop(engine::token_id token) const;

  /// Takes back the last `draws` draws.
  void undo(std::size_t draws);
};

/// What bounds a Forward.
struct run_limits {
  engine::model_info model;
  std::uint32_t block_tokens = 0;
  std::uint32_t arena_blocks = 0;
  std::uint32_t batch_tokens_max = 0;
  std::size_t sequences_max = 0;
};

run_limits limits_of(const engine::engine& runs, std::size_t sequences_max);

/// The sequences of one engine, by the numbers that their owner gave them.
///
/// Pure: computes nothing, and knows no clock. One owner, not thread-safe.
class sequence_table {
public:
  explicit sequence_table(run_limits limits) : limits_(std::move(limits)) {}

  /// What is wrong with `wish`, for a log: it names no token. Nothing if it may be
  /// applied and then run, however many steps it takes.
  std::optional<std::string> find_fault(schema::Forward::Reader wish) const;

  /// Ends, begins, and changes block tables. find_fault() had nothing against `wish`.
  void apply(schema::Forward::Reader wish);

  sequence& at(std::uint64_t number) {
    return all_.at(number);
  }

  std::size_t size() const {
    return all_.size();
  }

private:
  using complaint = std::optional<std::string>;

  complaint fault_in_sequences(schema::Forward::Reader wish) const;
  complaint fault_in_begin(schema::Forward::Begin::Reader begin) const;
  complaint fault_in_batch(schema::Forward::Reader wish) const;
  complaint fault_in_work(schema::Forward::Work::Reader work, const sequence* known,
                          std::uint32_t last) const;

  run_limits limits_;
  std::map<std::uint64_t, sequence> all_;
};

/// The last position that `work` may feed in a run of `steps_max` steps.
std::uint32_t last_position(schema::Forward::Work::Reader work,
                            std::uint32_t steps_max);

} // namespace perigee::engine_host
