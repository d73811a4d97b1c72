#include "engine/cpu/cpu_engine.hpp"

#include "engine/batch_check.hpp"
#include "engine/cpu/forward_pass.hpp"

#include <unistd.h>

#include <optional>

namespace perigee::engine::cpu {
namespace {

constexpr std::uint32_t block_tokens_max = 4096;
constexpr std::uint32_t batch_tokens_limit = 1u << 16;

const kernel_set* kernels_of(const engine_options& options) {
  return options.kernels.empty() ? &fastest() : kernels_named(options.kernels);
}

std::string names_of_kernels() {
  std::string names;
  for (const auto* one : available())
    names += (names.empty() ? "" : ", ") + std::string{one->name};
  return names;
}

/// What the machine has, in all; a guess if it doesn't say.
std::size_t memory_bytes() {
  auto pages = ::sysconf(_SC_PHYS_PAGES);
  auto page = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0
           ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
           : std::size_t{1} << 36;
}

std::optional<option_fault> find_fault(const weights& model,
                                       const engine_options& options) {
  auto out_of = [](const char* option, std::size_t value, std::size_t lowest,
                   std::size_t highest) -> std::optional<option_fault> {
    if (value >= lowest && value <= highest)
      return {};
    return option_fault{option, std::to_string(lowest) + " to "
                                  + std::to_string(highest) + ", found "
                                  + std::to_string(value)};
  };
  if (auto fault = out_of("threads", options.threads, 1, thread_pool::threads_max))
    return fault;
  if (auto fault = out_of("arena_blocks", options.arena_blocks, 1, 1u << 30))
    return fault;
  if (auto fault = out_of("block_tokens", options.block_tokens, 8, block_tokens_max))
    return fault;
  if (auto fault
      = out_of("batch_tokens_max", options.batch_tokens_max, 1, batch_tokens_limit))
    return fault;
  auto blocks_max = memory_bytes() / layout_of(model, options).block_bytes();
  if (options.arena_blocks > blocks_max)
    return option_fault{"arena_blocks", "at most " + std::to_string(blocks_max)
                                          + ", which fill this machine's memory, found "
                                          + std::to_string(options.arena_blocks)};
  if (kernels_of(options) == nullptr)
    return option_fault{"kernels", names_of_kernels() + ", found " + options.kernels};
  return {};
}

std::shared_ptr<std::byte> take_memory(const engine_options& options,
                                       std::size_t bytes) {
  if (options.allocate)
    return options.allocate(bytes);
  auto heap = std::make_shared<aligned_bytes>(bytes);
  return {heap, heap->data()};
}

class cpu_engine final : public engine {
public:
  /// `memory` is for as many blocks as the options say.
  cpu_engine(std::shared_ptr<const weights> model, const engine_options& options,
             std::shared_ptr<std::byte> memory)
    : model_{std::move(model)}, layout_{layout_of(*model_, options)},
      blocks_{options.arena_blocks}, batch_tokens_max_{options.batch_tokens_max},
      memory_{std::move(memory)}, pool_{{options.threads, options.pin}},
      pass_{model_, *kernels_of(options), pool_, arena(), batch_tokens_max_} {}

  const model_info& model() const override {
    return model_->info;
  }

  arena_view arena() const override {
    return {memory_.get(), blocks_, layout_};
  }

  std::uint32_t batch_tokens_max() const override {
    return batch_tokens_max_;
  }

  result<void, run_fault> run(std::span<slice> batch,
                              const layer_hooks& hooks) override {
    if (!is_sound(batch, model_->info, arena(), batch_tokens_max_))
      return failure(run_fault::bad_batch);
    if (batch.empty())
      return {};
    return pass_.run(batch, hooks);
  }

private:
  std::shared_ptr<const weights> model_;
  kv_layout layout_;
  std::uint32_t blocks_;
  std::uint32_t batch_tokens_max_;
  std::shared_ptr<std::byte> memory_;
  thread_pool pool_;
  forward_pass pass_;
};

} // namespace

kv_layout layout_of(const weights& model, const engine_options& options) {
  return {model.info.layers, model.info.kv_heads, model.info.head_dim,
          options.block_tokens, options.kv == kv_type::f16 ? 2u : 4u};
}

result<std::unique_ptr<engine>, option_fault>
make_engine(std::shared_ptr<const weights> model, const engine_options& options) {
  if (auto fault = find_fault(*model, options))
    return failure(*fault);
  auto memory = take_memory(options, options.arena_blocks
                                       * layout_of(*model, options).block_bytes());
  if (!memory)
    return failure(
      option_fault{"arena_blocks", "fewer: the system gives no memory for "
                                     + std::to_string(options.arena_blocks)});
  return std::unique_ptr<engine>{
    std::make_unique<cpu_engine>(std::move(model), options, std::move(memory))};
}

} // namespace perigee::engine::cpu
