#include "engine/tokenizer/vocabulary_file.hpp"

#include <limits>
#include <string>
#include <utility>

namespace perigee::engine {

namespace {

std::string key_of(const char* name) {
  return std::string{"tokenizer.ggml."} + name;
}

/// Reads one key after another, and remembers the first fault.
class key_reader {
public:
  explicit key_reader(const gguf::contents& file) : file_(file) {}

  std::string text(const char* name) {
    return std::string{take(file_.text(key_of(name)))};
  }

  std::string text(const char* name, const char* fallback) {
    return std::string{take(file_.text(key_of(name), fallback))};
  }

  std::vector<std::string> texts(const char* name) {
    const auto views = take(file_.texts(key_of(name)));
    return {views.begin(), views.end()};
  }

  std::vector<float> reals(const char* name) {
    return take(file_.reals(key_of(name)));
  }

  std::vector<token_kind> kinds(const char* name) {
    std::vector<token_kind> kinds;
    if (!file_.has(key_of(name)))
      return kinds;
    // What is no kind stays one that is none, for tokenizer::make() to name.
    for (const std::int64_t kind : take(file_.numbers(key_of(name))))
      kinds.push_back(static_cast<token_kind>(kind >= 0 && kind < 256 ? kind : 255));
    return kinds;
  }

  std::optional<token_id> id(const char* name) {
    if (!file_.has(key_of(name)))
      return std::nullopt;
    const std::uint64_t id = take(file_.number(key_of(name)));
    return static_cast<token_id>(
      std::min<std::uint64_t>(id, std::numeric_limits<token_id>::max()));
  }

  std::optional<bool> flag(const char* name) {
    if (!file_.has(key_of(name)))
      return std::nullopt;
    return take(file_.flag(key_of(name), false));
  }

  std::optional<gguf::bad_input> fault;

private:
  template <class T>
  T take(gguf::found<T> read) {
    if (read)
      return std::move(*read);
    if (!fault)
      fault = std::move(read.error());
    return T{};
  }

  const gguf::contents& file_;
};

} // namespace

gguf::found<vocabulary> read_vocabulary(const gguf::contents& file) {
  key_reader keys{file};
  vocabulary words;
  words.model = keys.text("model");
  words.pre = keys.text("pre", "default");
  words.tokens = keys.texts("tokens");
  if (words.model == "llama")
    words.scores = keys.reals("scores");
  if (words.model == "gpt2")
    words.merges = keys.texts("merges");
  words.token_type = keys.kinds("token_type");
  words.bos_token_id = keys.id("bos_token_id");
  words.eos_token_id = keys.id("eos_token_id");
  words.eot_token_id = keys.id("eot_token_id");
  words.eom_token_id = keys.id("eom_token_id");
  words.unknown_token_id = keys.id("unknown_token_id");
  words.add_bos_token = keys.flag("add_bos_token");
  words.add_eos_token = keys.flag("add_eos_token");
  words.add_space_prefix = keys.flag("add_space_prefix");
  if (keys.fault)
    return failure(std::move(*keys.fault));
  return words;
}

gguf::found<std::shared_ptr<const tokenizer>>
read_tokenizer(const gguf::contents& file) {
  auto words = read_vocabulary(file);
  if (!words)
    return failure(std::move(words.error()));
  return tokenizer::make(*words);
}

} // namespace perigee::engine
