#include "engine/modelled/modelled_engine.hpp"

#include "engine/batch_check.hpp"
#include "engine/modelled/modelled_memory.hpp"
#include "engine/sampling/chance.hpp"
#include "schemas/assert.hpp"

#include <cstring>
#include <vector>

namespace perigee::engine {
namespace {

model_info info_of(const modelled_options& options) {
  model_info info;
  info.name = options.name;
  info.architecture = "modelled";
  info.layers = options.layout.layers;
  info.kv_heads = options.layout.heads;
  info.head_dim = options.layout.head_dim;
  info.vocabulary = options.vocabulary;
  info.context_tokens_max = options.context_tokens_max;
  for (std::size_t i = 0; i < info.digest.size(); i += 8) {
    auto word = mixed(mixed(options.seed, options.checked), i);
    std::memcpy(info.digest.data() + i, &word, 8);
  }
  return info;
}

class modelled_engine final : public engine {
public:
  explicit modelled_engine(modelled_options options)
    : options_{std::move(options)}, info_{info_of(options_)} {
    const auto& layout = options_.layout;
    PERIGEE_ASSERT(layout.layers > 0 && layout.heads > 0 && layout.head_dim > 0
                     && layout.block_tokens > 0 && layout.element_bytes > 0,
                   "a layout has an extent in each direction");
    PERIGEE_ASSERT(options_.vocabulary > modelled_end, "the end is a token");
    PERIGEE_ASSERT(options_.arena_blocks > 0 && options_.batch_tokens_max > 0,
                   "an engine holds and feeds something");
    if (options_.checked)
      memory_.resize(options_.arena_blocks * layout.block_bytes());
  }

  const model_info& model() const override {
    return info_;
  }

  arena_view arena() const override {
    return {options_.checked ? memory_.data() : nullptr, options_.arena_blocks,
            options_.layout};
  }

  std::uint32_t batch_tokens_max() const override {
    return options_.batch_tokens_max;
  }

  result<void, run_fault> run(std::span<slice> batch,
                              const layer_hooks& hooks) override {
    if (!is_sound(batch, info_, arena(), options_.batch_tokens_max))
      return failure(run_fault::bad_batch);
    embed(batch);
    bool has_layers = options_.checked || hooks.before || hooks.after;
    for (std::uint32_t layer = 0; has_layers && layer < info_.layers; ++layer) {
      if (hooks.before && !hooks.before(layer))
        return failure(run_fault::starved);
      if (options_.checked)
        feed(batch, layer);
      if (hooks.after)
        hooks.after(layer);
    }
    answer(batch);
    return {};
  }

  std::chrono::nanoseconds cost(std::span<const slice> batch) const override {
    return options_.cost.of(batch);
  }

private:
  /// Of tokens that nothing is made of, there is nothing to know.
  std::size_t unknown_of(const slice& one) const {
    return options_.checked || one.on_logits ? 0 : one.tokens.size() - 1;
  }

  void embed(std::span<const slice> batch) {
    hidden_.clear();
    for (const auto& one : batch)
      for (auto token : one.tokens.subspan(unknown_of(one)))
        hidden_.push_back(modelled_embedding(options_.seed, token));
  }

  void feed(std::span<const slice> batch, std::uint32_t layer) {
    auto* hidden = hidden_.data();
    for (const auto& one : batch) {
      auto position = one.first_position;
      auto sum = sum_before(one, layer);
      for (auto token : one.tokens) {
        auto slot = slot_of(arena(), one.blocks, layer, position);
        imprint(slot, modelled_content(options_.seed, layer, token, sum, *hidden));
        sum += modelled_share(recall(slot), position++);
        *hidden++ = sum;
      }
    }
  }

  std::uint64_t sum_before(const slice& one, std::uint32_t layer) const {
    std::uint64_t sum = 0;
    for (std::uint32_t position = 0; position < one.first_position; ++position)
      sum += modelled_share(recall(slot_of(arena(), one.blocks, layer, position)),
                            position);
    return sum;
  }

  void answer(std::span<slice> batch) {
    const auto* hidden = hidden_.data();
    for (auto& one : batch) {
      auto unknown = unknown_of(one);
      auto position = one.first_position + static_cast<std::uint32_t>(unknown);
      for (auto i = unknown; i < one.tokens.size(); ++i, ++hidden, ++position)
        if (one.on_logits)
          one.on_logits(position, logits_after(*hidden, position + 1));
      if (one.pick != nullptr)
        *one.drawn
          = modelled_draw(hidden[-1], position, options_.vocabulary, *one.pick);
    }
  }

  std::vector<float> logits_after(std::uint64_t hidden, std::uint32_t position) const {
    return modelled_logits(modelled_likeliest(hidden, position, options_.vocabulary),
                           options_.vocabulary);
  }

  modelled_options options_;
  model_info info_;
  mutable std::vector<std::byte> memory_;
  std::vector<std::uint64_t> hidden_; // of each token known, after the last layer
};

} // namespace

std::unique_ptr<engine> make_modelled_engine(modelled_options options) {
  return std::make_unique<modelled_engine>(std::move(options));
}

} // namespace perigee::engine
