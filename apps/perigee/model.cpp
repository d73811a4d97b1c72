#include "apps/perigee/model.hpp"

#include "engine/cpu/cpu_engine.hpp"
#include "engine/modelled/modelled_engine.hpp"
#include "engine/tokenizer/vocabulary_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <thread>

namespace perigee::app {
namespace {

namespace cpu = engine::cpu;

std::uint32_t element_bytes(const cluster::topology& all) {
  return all.model.kv_type == "f16" ? 2 : 4;
}

/// A line that counts up where a person looks on; events, a quarter each, where not.
class progress {
public:
  explicit progress(spdlog::logger& log)
    : log_(log), is_watched_(isatty(STDERR_FILENO) == 1) {}

  void operator()(std::size_t done, std::size_t total) {
    auto percent = total == 0 ? 100 : done * 100 / total;
    if (is_watched_ && percent != shown_) {
      std::fprintf(stderr, "\rloading the model: %3zu %%%s", percent,
                   percent == 100 ? "\n" : "");
      std::fflush(stderr);
      shown_ = percent;
    } else if (!is_watched_ && percent / 25 > shown_ / 25) {
      log_.info("model_loading percent={}", percent / 25 * 25);
      shown_ = percent;
    }
  }

private:
  spdlog::logger& log_;
  bool is_watched_;
  std::size_t shown_ = 0;
};

bool is_modelled(const cluster::topology& all) {
  for (const auto& node : all.nodes)
    for (const auto& group : node.prefill_groups)
      return group.engine == "modelled"; // then all are
  for (const auto& node : all.nodes)
    for (const auto& instance : node.coupled_instances)
      return instance.engine == "modelled";
  return false;
}

engine::modelled_cost to_cost(const cluster::hardware_settings& from) {
  engine::modelled_cost cost;
  cost.prefill = {from.prefill_fixed_ms * 1e-3, from.prefill_token_us * 1e-6,
                  from.prefill_pair_ns * 1e-9, from.prefill_spread_percent * 1e-2};
  cost.decode = {from.decode_fixed_ms * 1e-3, from.decode_kv_token_ns * 1e-9,
                 from.decode_sequence_us * 1e-6, from.decode_spread_percent * 1e-2};
  return cost;
}

engine::modelled_options modelled_options_of(const model& of) {
  engine::modelled_options how;
  how.name = of.info.name;
  how.vocabulary = of.info.vocabulary;
  how.context_tokens_max = of.info.context_tokens_max;
  how.layout = of.layout;
  return how;
}

std::string text_of(const engine::tokenizer& words,
                    std::optional<engine::token_id> token) {
  return token ? std::string{words.piece(*token, engine::control::shown)} : "";
}

/// The topology's choice, or the file's; else a sentence.
result<std::shared_ptr<const engine::chat_template>, std::string>
find_talk(const cluster::topology& all, const engine::gguf::file& file) {
  std::optional<std::string_view> chosen, in_file;
  if (all.model.chat_template != "auto")
    chosen = all.model.chat_template;
  if (file.has("tokenizer.chat_template")) {
    auto text = file.text("tokenizer.chat_template");
    if (!text)
      return failure(text.error().text());
    in_file = *text;
  }
  auto found = engine::find_chat_template(chosen, in_file);
  if (!found)
    return failure(found.error().text);
  return *found;
}

std::size_t threads_of(const engine_wish& what) {
  auto cores = std::max(1u, std::thread::hardware_concurrency());
  return what.threads > 0 ? what.threads : cores;
}

/// What a topology says of a model's KV stands over what its file says.
void take_shape(model_outline& into, const cluster::topology& all) {
  const auto& shape = *all.model_shape;
  into.info.layers = std::uint32_t(shape.layers);
  into.info.kv_heads = std::uint32_t(shape.kv_heads);
  into.info.head_dim = std::uint32_t(shape.head_dim);
  into.layout = {into.info.layers, into.info.kv_heads, into.info.head_dim,
                 std::uint32_t(all.model.block_tokens), element_bytes(all)};
}

model_outline outline_of_shape(const cluster::topology& all) {
  model_outline made;
  made.info.name = all.model.name.empty() ? "modelled" : all.model.name;
  made.info.architecture = "modelled";
  made.info.vocabulary = engine::modelled_options{}.vocabulary;
  made.info.context_tokens_max = all.model.context_tokens_max > 0
                                   ? std::uint32_t(all.model.context_tokens_max)
                                   : std::uint32_t(prompt_tokens_max);
  take_shape(made, all);
  return made;
}

result<model_outline, std::string> outline_of(const engine::gguf::file& file,
                                              const cluster::topology& all) {
  auto shape = cpu::read_model_shape(file);
  if (!shape)
    return failure(shape.error().text());
  model_outline found;
  found.info = {shape->name,
                shape->architecture_name,
                std::uint32_t(shape->layers),
                std::uint32_t(shape->kv_heads),
                std::uint32_t(shape->head_dim),
                std::uint32_t(shape->vocabulary),
                std::uint32_t(shape->context_tokens_max),
                {}};
  found.layout = {found.info.layers, found.info.kv_heads, found.info.head_dim,
                  std::uint32_t(all.model.block_tokens), element_bytes(all)};
  if (all.model_shape)
    take_shape(found, all);
  return found;
}

/// Tokenizer and chats.
result<void, std::string> load_words(model& into, const cluster::topology& all,
                                     spdlog::logger& log) {
  auto words = engine::read_tokenizer(*into.file);
  if (!words)
    return failure(words.error().text());
  // Else a prompt could name a token that no engine has, and its whole batch would fail.
  if ((*words)->size() > into.info.vocabulary)
    return failure(all.model.path + ": tokenizer.ggml.tokens: expected at most "
                   + std::to_string(into.info.vocabulary)
                   + ", the rows of token_embd.weight; there are "
                   + std::to_string((*words)->size()));
  into.words = *words;
  into.ends = {text_of(*into.words, into.words->bos()),
               text_of(*into.words, into.words->eos())};
  auto talk = find_talk(all, *into.file);
  if (talk)
    into.talk = *talk;
  else if (all.model.chat_template != "auto")
    return failure(talk.error());
  else
    log.warn("no_chats why=\"{}\"", talk.error());
  return {};
}

} // namespace

result<model_outline, std::string> read_outline(const cluster::topology& all) {
  if (all.model.path.empty())
    return outline_of_shape(all);
  auto file = engine::gguf::file::open(all.model.path);
  if (!file)
    return failure(file.error().text());
  return outline_of(**file, all);
}

result<model, std::string> load_model(const cluster::topology& all,
                                      spdlog::logger& log) {
  if (all.model.path.empty())
    return failure(std::string{"model.path is not set: expected the path of a GGUF "
                               "file, of which the tokenizer is needed"});
  auto file = engine::gguf::file::open(all.model.path);
  if (!file)
    return failure(file.error().text());
  auto outline = outline_of(**file, all);
  if (!outline)
    return failure(outline.error());
  model loaded;
  loaded.file = *file;
  loaded.info = outline->info;
  loaded.layout = outline->layout;
  if (auto read = load_words(loaded, all, log); !read)
    return failure(read.error());
  if (is_modelled(all)) {
    loaded.info.digest = (*file)->digest();
    return loaded;
  }
  auto weights = cpu::load(*file, progress{log});
  if (!weights)
    return failure(weights.error().text());
  loaded.weights = *weights;
  loaded.info = loaded.weights->info;
  return loaded;
}

conductor::cost_model to_cost_model(const cluster::cost_settings& from,
                                    const model& of) {
  conductor::cost_model to;
  to.prefill
    = {from.prefill_fixed_ms * 1e6, from.prefill_token_us * 1e3, from.prefill_pair_ns};
  to.decode = {from.decode_fixed_ms * 1e6, from.decode_sequence_us * 1e3,
               from.decode_kv_token_ns};
  to.link = {from.transfer_fixed_us * 1e3, from.transfer_gib_per_s * double(1 << 30)};
  to.kv_token_bytes = of.layout.block_bytes() / of.layout.block_tokens;
  return to;
}

result<std::shared_ptr<engine::engine>, std::string>
make_engine(const model& of, const cluster::topology& all, const engine_wish& what) {
  if (what.engine == "modelled") {
    auto how = modelled_options_of(of);
    how.arena_blocks = what.arena_blocks;
    how.batch_tokens_max = what.batch_tokens_max;
    how.cost = to_cost(all.hardware.at(what.hardware));
    return std::shared_ptr<engine::engine>{engine::make_modelled_engine(how)};
  }
  cpu::engine_options how;
  how.threads = threads_of(what);
  how.arena_blocks = what.arena_blocks;
  how.block_tokens = of.layout.block_tokens;
  how.kv = of.layout.element_bytes == 2 ? engine::kv_type::f16 : engine::kv_type::f32;
  how.batch_tokens_max = what.batch_tokens_max;
  how.allocate = what.allocate;
  auto made = cpu::make_engine(of.weights, how);
  if (!made)
    return failure("an engine cannot be made: " + made.error().option + " must be "
                   + made.error().expected);
  return std::shared_ptr<engine::engine>{std::move(*made)};
}

std::uint32_t blocks_of(const model& of, cluster::byte_size bytes) {
  auto blocks = bytes.bytes / of.layout.block_bytes();
  return static_cast<std::uint32_t>(
    std::min<std::uint64_t>(blocks, std::numeric_limits<std::int32_t>::max()));
}

} // namespace perigee::app
