#include "parrot.hpp"

#include "engine/batch_check.hpp"

namespace embed {

using namespace perigee::engine;

parrot::parrot(std::uint32_t period, std::uint32_t arena_blocks,
               std::uint32_t batch_tokens_max)
  : period_(period), blocks_(arena_blocks), batch_tokens_max_(batch_tokens_max),
    memory_(arena_blocks * layout().block_bytes()) {
  model_.name = "parrot";
  model_.architecture = "parrot";
  model_.layers = layout().layers;
  model_.kv_heads = layout().heads;
  model_.head_dim = layout().head_dim;
  model_.vocabulary = 256;
  model_.context_tokens_max = 4096;
}

kv_layout parrot::layout() {
  return {.layers = 1, .heads = 1, .head_dim = 1};
}

const model_info& parrot::model() const {
  return model_;
}

arena_view parrot::arena() const {
  return {const_cast<std::byte*>(memory_.data()), blocks_, layout()};
}

std::uint32_t parrot::batch_tokens_max() const {
  return batch_tokens_max_;
}

parrot::letter& parrot::place(const slice& of, std::uint32_t position) {
  const auto& shape = layout();
  auto block = of.blocks[position / shape.block_tokens];
  auto* letters = reinterpret_cast<letter*>(memory_.data() + shape.offset(block, 0));
  return letters[position % shape.block_tokens];
}

perigee::result<void, run_fault> parrot::run(std::span<slice> batch,
                                             const layer_hooks& hooks) {
  if (!is_sound(batch, model_, arena(), batch_tokens_max_))
    return perigee::failure(run_fault::bad_batch);
  if (hooks.before && !hooks.before(0)) // what was computed elsewhere must be here
    return perigee::failure(run_fault::starved);
  for (const auto& one : batch)
    for (std::uint32_t i = 0; i < one.tokens.size(); ++i)
      place(one, one.first_position + i) = static_cast<letter>(one.tokens[i]);
  if (hooks.after)
    hooks.after(0); // others may read the blocks from now on
  for (auto& one : batch) {
    if (!one.pick)
      continue;
    auto next = one.first_position + static_cast<std::uint32_t>(one.tokens.size());
    std::vector<float> logits(model_.vocabulary, 0);
    logits[next >= period_ ? place(one, next - period_) : '?'] = 100;
    *one.drawn = one.pick->draw(logits, next);
  }
  return {};
}

} // namespace embed
