#include "engine/cpu/forward_pass.hpp"

#include "engine/cpu/kernels/dequantize.hpp"
#include "engine/cpu/kernels/elementary.hpp"

#include <algorithm>
#include <cstring>

namespace perigee::engine::cpu {
namespace {

/// Tokens of a layer that go through it together: enough to pay for reading its
/// weights, few enough for the cache.
constexpr std::size_t piece_tokens = 256;

constexpr std::size_t logit_rows = 32; // computed at once
constexpr std::size_t rows_a_call = 4; // of what takes about a microsecond a row
static_assert(logit_rows <= piece_tokens, "rows of logits are a piece");

/// Query heads to a KV head.
std::size_t group_of(const model_shape& shape) {
  return shape.heads / shape.kv_heads;
}

/// Tokens whose queries attend() takes at once, if there are so many.
std::size_t tokens_together(const model_shape& shape) {
  constexpr std::size_t queries = 48;
  return std::max(queries / group_of(shape), std::size_t{1});
}

void cap(std::span<float> logits, double limit) {
  for (float& logit : logits)
    logit = static_cast<float>(limit * (1 - 2 / (exp_of(2 * logit / limit) + 1)));
}

} // namespace

forward_pass::forward_pass(std::shared_ptr<const weights> model,
                           const kernel_set& kernels, thread_pool& pool,
                           arena_view arena, std::size_t batch_tokens_max)
  : model_{std::move(model)}, kernels_{kernels}, pool_{pool}, arena_{arena},
    multiplier_{*model_, kernels, pool, std::min(batch_tokens_max, piece_tokens)},
    rope_{shape().rope, shape().rope_dimensions, model_->rope_factors},
    rope_windowed_{shape().rope_windowed, shape().rope_dimensions,
                   model_->rope_factors} {
  const auto& it = shape();
  auto piece = std::min(batch_tokens_max, piece_tokens);
  x_ = {batch_tokens_max, it.width};
  turns_ = {batch_tokens_max, it.rope_dimensions};
  if (it.window_period > 0)
    turns_windowed_ = {batch_tokens_max, it.rope_dimensions};
  normed_ = {piece, it.width};
  projected_ = {piece, it.query_width() + 2 * it.kv_width()};
  attended_ = {piece, it.query_width()};
  branch_ = {piece, it.width};
  gate_up_ = {piece, 2 * it.ffn_width};
  logits_ = {std::min(batch_tokens_max, logit_rows), it.vocabulary};
  scratch_ = {pool.threads(),
              attention_scratch(tokens_together(it) * group_of(it), it.head_dim)};
}

result<void, run_fault> forward_pass::run(std::span<slice> batch,
                                          const layer_hooks& hooks) {
  batch_ = batch;
  list(batch);
  embed();
  fill_turns();
  for (std::size_t layer = 0; layer < shape().layers; ++layer) {
    if (hooks.before && !hooks.before(static_cast<std::uint32_t>(layer)))
      return failure(run_fault::starved);
    run_layer(layer, hooks);
  }
  answer();
  return {};
}

void forward_pass::list(std::span<const slice> batch) {
  fed_.clear();
  for (std::uint32_t index = 0; index < batch.size(); ++index) {
    const auto& one = batch[index];
    auto position = one.first_position;
    for (auto token : one.tokens)
      fed_.push_back({token, index, position++, one.on_logits != nullptr});
    fed_.back().wants_logits |= one.pick != nullptr;
  }
}

void forward_pass::embed() {
  const auto& table = *model_->embedding;
  auto row_bytes = table.data.size() / table.rows();
  pool_.run(fed_.size(), rows_a_call,
            [&](std::size_t begin, std::size_t end, std::size_t) {
              for (auto i = begin; i < end; ++i) {
                dequantize(table.type, table.data.data() + fed_[i].token * row_bytes,
                           shape().width, x_.row(i));
                if (shape().embedding_scale != 1)
                  kernels_.scale(x_.row(i), shape().embedding_scale, shape().width);
              }
            });
}

void forward_pass::fill_turns() {
  auto pairs = rope_.pairs();
  pool_.run(fed_.size(), rows_a_call,
            [&](std::size_t begin, std::size_t end, std::size_t) {
              for (auto i = begin; i < end; ++i) {
                auto* row = turns_.row(i);
                rope_.fill(fed_[i].position, row, row + pairs);
                if (shape().window_period > 0) {
                  row = turns_windowed_.row(i);
                  rope_windowed_.fill(fed_[i].position, row, row + pairs);
                }
              }
            });
}

void forward_pass::run_layer(std::size_t index, const layer_hooks& hooks) {
  const auto& layer = model_->layers[index];
  bool is_last = index + 1 == shape().layers;
  for (std::size_t begin = 0; begin < fed_.size(); begin += piece_tokens) {
    auto end = std::min(begin + piece_tokens, fed_.size());
    piece_.clear();
    for (auto token = begin; token < end; ++token)
      piece_.push_back(static_cast<std::uint32_t>(token));
    project(layer);
    store(index);
    if (end == fed_.size() && hooks.after)
      hooks.after(static_cast<std::uint32_t>(index));
    if (is_last)
      keep_wanted();
    if (piece_.empty())
      continue;
    attend(index);
    close_attention(layer);
    feed_forward(layer);
  }
}

void forward_pass::project(const layer_weights& layer) {
  auto width = shape().width;
  multiplier_.prepare(layer.query_key_value, normed_.first(piece_.size(), width),
                      [&](std::size_t begin, std::size_t end) {
                        for (auto row = begin; row < end; ++row)
                          kernels_.rms_norm(x_.row(piece_[row]),
                                            layer.attention_norm.data(), width,
                                            shape().epsilon, normed_.row(row));
                      });
  multiplier_.multiply(layer.query_key_value, projected_);
}

void forward_pass::store(std::size_t index) {
  pool_.run(piece_.size(), rows_a_call,
            [&](std::size_t begin, std::size_t end, std::size_t) {
              for (auto row = begin; row < end; ++row)
                turn_and_store(index, row);
            });
}

/// Norms and turns the queries and keys of a row in place, and writes keys and values
/// to the arena.
void forward_pass::turn_and_store(std::size_t index, std::size_t row) {
  const auto& it = shape();
  const auto& layer = model_->layers[index];
  const auto& token = fed_[piece_[row]];
  auto dim = it.head_dim;
  const auto* turn
    = (it.is_windowed(index) ? turns_windowed_ : turns_).row(piece_[row]);
  auto rope
    = it.kind == architecture::llama ? kernels_.rope_adjacent : kernels_.rope_halves;
  auto turn_heads = [&](float* heads, std::size_t count, const auto& norm) {
    for (auto* head = heads; head < heads + count * dim; head += dim) {
      if (!norm.empty())
        kernels_.rms_norm(head, norm.data(), dim, it.epsilon, head);
      rope(head, turn, turn + rope_.pairs(), rope_.pairs());
    }
  };
  auto* queries = projected_.row(row);
  auto* keys = queries + it.query_width();
  const auto* values = keys + it.kv_width();
  turn_heads(queries, it.heads, layer.query_norm);
  turn_heads(keys, it.kv_heads, layer.key_norm);

  layer_kv kv{arena_, index};
  auto block_tokens = arena_.layout.block_tokens;
  auto block = batch_[token.slice].blocks[token.position / block_tokens];
  auto write = [&](const float* from, std::byte* to) {
    if (kv.type() == kv_type::f16)
      kernels_.to_f16(from, dim, reinterpret_cast<std::uint16_t*>(to));
    else
      std::memcpy(to, from, dim * sizeof(float));
  };
  for (std::size_t head = 0; head < it.kv_heads; ++head) {
    write(keys + head * dim, kv.key(block, head, token.position % block_tokens));
    write(values + head * dim, kv.value(block, head, token.position % block_tokens));
  }
}

/// Drops the rows of which nobody wants to know what follows: above the last keys and
/// values nothing depends on them.
void forward_pass::keep_wanted() {
  std::size_t kept = 0;
  for (std::size_t row = 0; row < piece_.size(); ++row) {
    if (!fed_[piece_[row]].wants_logits)
      continue;
    if (kept != row)
      std::copy_n(projected_.row(row), shape().query_width(), projected_.row(kept));
    piece_[kept++] = piece_[row];
  }
  piece_.resize(kept);
}

void forward_pass::attend(std::size_t index) {
  attention_.clear();
  std::size_t begin = 0;
  for (std::size_t row = 1; row <= piece_.size(); ++row) {
    const auto& before = fed_[piece_[row - 1]];
    bool goes_on = row < piece_.size() && fed_[piece_[row]].slice == before.slice
                   && fed_[piece_[row]].position == before.position + 1;
    if (goes_on)
      continue;
    add_attention(index, begin, row - begin);
    begin = row;
  }
  pool_.run(attention_.size(), 1,
            [&](std::size_t from, std::size_t to, std::size_t thread) {
              for (auto i = from; i < to; ++i) {
                attention_[i].scratch = scratch_.row(thread);
                kernels_.attend(attention_[i]);
              }
            });
}

/// For the rows [first_row, first_row + count), which are consecutive positions of one
/// slice.
void forward_pass::add_attention(std::size_t index, std::size_t first_row,
                                 std::size_t count) {
  const auto& it = shape();
  const auto& first = fed_[piece_[first_row]];
  layer_kv kv{arena_, index};
  attention_view view;
  view.group = group_of(it);
  view.window = it.is_windowed(index) ? it.window : 0;
  view.factor = it.query_scale;
  view.query_stride = projected_.width();
  view.out_stride = attended_.width();
  auto step = tokens_together(it);
  for (std::size_t at = 0; at < count; at += step)
    for (std::size_t head = 0; head < it.kv_heads; ++head) {
      auto offset = head * view.group * it.head_dim;
      view.kv = kv.view(batch_[first.slice].blocks, head);
      view.first_position = first.position + at;
      view.tokens = std::min(step, count - at);
      view.queries = projected_.row(first_row + at) + offset;
      view.out = attended_.row(first_row + at) + offset;
      attention_.push_back(view);
    }
}

void forward_pass::close_attention(const layer_weights& layer) {
  multiplier_.prepare(layer.attention_out,
                      attended_.first(piece_.size(), attended_.width()),
                      [](std::size_t, std::size_t) {});
  multiplier_.multiply(layer.attention_out, branch_);
}

void forward_pass::feed_forward(const layer_weights& layer) {
  auto width = shape().width;
  multiplier_.prepare(layer.gate_up, normed_.first(piece_.size(), width),
                      [&](std::size_t begin, std::size_t end) {
                        for (auto row = begin; row < end; ++row) {
                          add_branch(layer.attention_post_norm, row);
                          kernels_.rms_norm(x_.row(piece_[row]), layer.ffn_norm.data(),
                                            width, shape().epsilon, normed_.row(row));
                        }
                      });
  multiplier_.multiply(layer.gate_up, gate_up_);
  auto inner = shape().ffn_width;
  auto product = shape().kind == architecture::llama ? kernels_.silu_product
                                                     : kernels_.gelu_product;
  multiplier_.prepare(layer.down, gate_up_.first(piece_.size(), inner),
                      [&](std::size_t begin, std::size_t end) {
                        for (auto row = begin; row < end; ++row) {
                          auto* gate = gate_up_.row(row);
                          product(gate, gate + inner, inner, gate);
                        }
                      });
  multiplier_.multiply(layer.down, branch_);
  pool_.run(piece_.size(), tile_tokens,
            [&](std::size_t begin, std::size_t end, std::size_t) {
              for (auto row = begin; row < end; ++row)
                add_branch(layer.ffn_post_norm, row);
            });
}

void forward_pass::add_branch(const std::vector<float>& post_norm, std::size_t row) {
  auto* branch = branch_.row(row);
  auto width = shape().width;
  if (!post_norm.empty())
    kernels_.rms_norm(branch, post_norm.data(), width, shape().epsilon, branch);
  kernels_.add(x_.row(piece_[row]), branch, width);
}

void forward_pass::answer() {
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t token = 0; token < fed_.size(); ++token)
    if (fed_[token].wants_logits)
      wanted.push_back(token);
  std::span<const std::uint32_t> rest{wanted};
  while (!rest.empty()) {
    auto count = std::min(logit_rows, rest.size());
    answer_rows(rest.first(count));
    rest = rest.subspan(count);
  }
}

void forward_pass::answer_rows(std::span<const std::uint32_t> tokens) {
  auto width = shape().width;
  multiplier_.prepare(model_->output, normed_.first(tokens.size(), width),
                      [&](std::size_t begin, std::size_t end) {
                        for (auto row = begin; row < end; ++row)
                          kernels_.rms_norm(x_.row(tokens[row]),
                                            model_->output_norm.data(), width,
                                            shape().epsilon, normed_.row(row));
                      });
  multiplier_.multiply(model_->output, logits_);
  auto logits_of = [&](std::size_t row) {
    return std::span<float>{logits_.row(row), shape().vocabulary};
  };
  if (shape().logit_cap > 0)
    for (std::size_t row = 0; row < tokens.size(); ++row)
      cap(logits_of(row), shape().logit_cap);
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    const auto& token = fed_[tokens[row]];
    if (batch_[token.slice].on_logits)
      batch_[token.slice].on_logits(token.position, logits_of(row));
  }
  pool_.run(tokens.size(), 1, [&](std::size_t begin, std::size_t end, std::size_t) {
    for (auto row = begin; row < end; ++row) {
      const auto& token = fed_[tokens[row]];
      auto& part = batch_[token.slice];
      bool is_last = token.position + 1 == part.first_position + part.tokens.size();
      if (part.pick != nullptr && is_last)
        *part.drawn = part.pick->draw(logits_of(row), token.position + 1);
    }
  });
}

} // namespace perigee::engine::cpu
