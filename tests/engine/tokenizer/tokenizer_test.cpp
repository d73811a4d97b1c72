#include "engine/tokenizer/tokenizer.hpp"

#include "engine/tokenizer/utf8.hpp"
#include "tests/engine/tokenizer/golden_texts.hpp"
#include "tests/engine/tokenizer/small_vocabulary.hpp"

#include <catch2/catch.hpp>

#include <limits>

namespace perigee::engine {

namespace {

using ids = std::vector<token_id>;

std::shared_ptr<const tokenizer> make(const vocabulary& words) {
  auto made = tokenizer::make(words);
  INFO((made ? "" : made.error().text()));
  REQUIRE(made);
  return *made;
}

/// What is wrong with `words`, in one line.
std::string fault_of(const vocabulary& words) {
  const auto made = tokenizer::make(words);
  REQUIRE_FALSE(made);
  return made.error().where + ": " + made.error().expected;
}

ids encode(const tokenizer& words, std::vector<segment> prompt,
           ends added = ends::as_the_file_asks) {
  return words.encode(prompt, added).value();
}

vocabulary with_bos(vocabulary words) {
  words.add_bos_token = true;
  return words;
}

} // namespace

TEST_CASE("words are merged in the order of the merges", "[tokenizer]") {
  const auto words = make(small_byte_level());
  CHECK(encode(*words, {{"hello"}}) == ids{263});
  CHECK(encode(*words, {{"hell"}}) == ids{262});
  CHECK(encode(*words, {{"helo"}}) == ids{260, 4 + 'l', 4 + 'o'});
  CHECK(encode(*words, {{""}}).empty());
  CHECK(encode(*words, {}).empty());
}

TEST_CASE("there is exactly one BOS where the file asks for one", "[tokenizer]") {
  const auto words = make(with_bos(small_byte_level()));
  CHECK(encode(*words, {{"he"}}) == ids{0, 260});
  CHECK(encode(*words, {{""}}) == ids{0});
  CHECK(encode(*words, {{"<s>", true}, {"he"}}) == ids{0, 260});
  CHECK(encode(*words, {{"<s>he", true}}) == ids{0, 260});
  CHECK(encode(*words, {{"he"}}, ends::none) == ids{260});
  CHECK(encode(*words, {{"<s>he", true}}, ends::none) == ids{0, 260});
  const auto unasked = make(small_byte_level());
  CHECK(encode(*unasked, {{"he"}}) == ids{260});
}

TEST_CASE("there is exactly one EOS where the file asks for one", "[tokenizer]") {
  auto asking = with_bos(small_byte_level());
  asking.add_eos_token = true;
  const auto words = make(asking);
  CHECK(encode(*words, {{"he"}}) == ids{0, 260, 1});
  CHECK(encode(*words, {{"he</s>", true}}) == ids{0, 260, 1});
  CHECK(encode(*words, {{""}}) == ids{0, 1});
}

TEST_CASE("a BOS that a user writes is text, and one is added", "[tokenizer]") {
  const auto words = make(with_bos(small_byte_level()));
  CHECK(encode(*words, {{"<s>"}}) == ids{0, 4 + '<', 4 + 's', 4 + '>'});
}

TEST_CASE("segments are one text but where one stands apart", "[tokenizer]") {
  const auto words = make(small_byte_level());
  CHECK(encode(*words, {{"he"}, {"llo"}}) == ids{263});
  CHECK(encode(*words, {{"he", true}, {"llo"}}) == ids{263});
  CHECK(encode(*words, {{"he"}, {"llo", false, true}}) == ids{260, 261, 4 + 'o'});
  CHECK(encode(*words, {{"", false, true}, {"he"}}) == ids{260});
}

TEST_CASE("no text becomes structure by being merged", "[tokenizer]") {
  auto tricky = small_pieces();
  tricky.token_type[262] = token_kind::control; // "hi"
  const auto words = make(tricky);
  CHECK(encode(*words, {{"hi"}}, ends::none) == ids{261, 259, 260});
  CHECK(encode(*words, {{"hi", true}}, ends::none) == ids{262});
  auto merging = small_byte_level();
  merging.token_type[263] = token_kind::control; // "hello"
  CHECK(fault_of(merging)
        == "tokenizer.ggml.merges[3]: expected both parts, and what they make, to be "
           "tokens of text");
}

TEST_CASE("what always is structure is so whatever the file says", "[tokenizer]") {
  auto careless = small_byte_level();
  careless.token_type[2] = token_kind::normal; // <|im_end|>
  const auto words = make(careless);
  CHECK(words->is_structure(2));
  CHECK(encode(*words, {{"<|im_end|>", true}}) == ids{2});
  CHECK(encode(*words, {{"<|im_end|>"}}).size() == 10);
  CHECK(words->piece(2).empty());
}

TEST_CASE("answers end with the tokens that the file and the families name",
          "[tokenizer]") {
  const auto words = make(small_byte_level());
  CHECK(std::vector<token_id>(words->end_tokens().begin(), words->end_tokens().end())
        == ids{1, 2});
  CHECK(words->is_end(2));
  CHECK_FALSE(words->is_end(0));
  auto named = small_byte_level();
  named.eot_token_id = 3;
  CHECK(make(named)->is_end(3));
}

TEST_CASE("pieces merge by score, with a space in front of text", "[tokenizer]") {
  const auto words = make(small_pieces());
  CHECK(encode(*words, {{"hi"}}) == ids{1, 263});
  CHECK(encode(*words, {{"hi hi"}}) == ids{1, 263, 263});
  CHECK(encode(*words, {{"</s>hi", true}}) == ids{1, 2, 263});
  CHECK(encode(*words, {{"hi"}, {"hi", false, true}}) == ids{1, 263, 262});
  CHECK(encode(*words, {{"é"}}) == ids{1, 261, 3 + 0xC3, 3 + 0xA9});
  CHECK(encode(*words, {{""}}) == ids{1});
}

TEST_CASE("what has no token is unknown where bytes have none", "[tokenizer]") {
  auto words = small_pieces();
  for (std::size_t i = 3; i < 259; ++i)
    words.tokens[i] = "no byte " + std::to_string(i);
  words.unknown_token_id = 0;
  words.add_space_prefix = false;
  CHECK(encode(*make(words), {{"hiz"}}) == ids{1, 262, 0});
}

TEST_CASE("the first space of decoded text is the tokenizer's own", "[tokenizer]") {
  const auto words = make(small_pieces());
  CHECK(words->decode(ids{263, 263}) == "hi hi");
  CHECK(words->piece(263) == " hi");
  CHECK(words->decode(ids{}).empty());
  CHECK(words->decode(ids{1, 263}) == " hi"); // as llama.cpp does it
  CHECK(words->decode(ids{1, 263}, control::shown) == "<s> hi");
}

TEST_CASE("text that is UTF-8 comes back as it was", "[tokenizer]") {
  const auto bytes = make(small_byte_level());
  const auto pieces = make(small_pieces());
  for (const std::string& text : golden::read_corpus()) {
    if (!is_utf8(text))
      continue;
    CHECK(bytes->decode(encode(*bytes, {{text}})) == text);
    if (text.find("\u2581") == std::string::npos) // their sign for a space
      CHECK(pieces->decode(encode(*pieces, {{text}}, ends::none)) == text);
  }
}

TEST_CASE("a text of the greatest length is taken, a longer one refused",
          "[tokenizer]") {
  const auto words = make(small_byte_level());
  const std::string_view word = " hellohellohellohello"; // five tokens
  std::string text;
  while (text.size() + word.size() <= text_bytes_max)
    text += word;
  const std::size_t tokens = text.size() / word.size() * 5;
  text.resize(text_bytes_max, '1');
  CHECK(encode(*words, {{text}}).size() == tokens + text_bytes_max % word.size());
  const segment twice[] = {{text}, {"."}};
  CHECK(words->encode(twice).error() == encode_fault::text_too_long);
  CHECK(words->encode(text + ".").error() == encode_fault::text_too_long);
}

TEST_CASE("as many tokens as a prompt may have are taken, more refused",
          "[tokenizer]") {
  const auto words = make(with_bos(small_byte_level()));
  std::string text(prompt_tokens_max - 1, '1');
  CHECK(words->encode(text)->size() == prompt_tokens_max);
  text += '1';
  CHECK(words->encode(text).error() == encode_fault::too_many_tokens);
}

TEST_CASE("a caller may want fewer tokens than a prompt may have", "[tokenizer]") {
  for (const auto& words : {make(with_bos(small_byte_level())), make(small_pieces())}) {
    const std::string text = "hello, hello 1 2 3";
    const std::size_t tokens = words->encode(text)->size();
    CHECK(words->encode(text, ends::as_the_file_asks, tokens).value()
          == words->encode(text).value());
    for (std::size_t most = 0; most < tokens; ++most) {
      CHECK(words->encode(text, ends::as_the_file_asks, most).error()
            == encode_fault::too_many_tokens);
    }
    const std::string long_text(text_bytes_max, ' '); // one word
    CHECK(words->encode(long_text, ends::none, 64).error()
          == encode_fault::too_many_tokens);
    CHECK(words->encode("", ends::none, 0)->empty());
  }
}

TEST_CASE("a vocabulary that isn't whole is refused, naming the entry", "[tokenizer]") {
  auto words = small_byte_level();
  words.model = "bert";
  CHECK(fault_of(words)
        == "tokenizer.ggml.model: expected one of gpt2, llama, found 'bert'");
  words = small_byte_level();
  words.pre = "falcon";
  CHECK(fault_of(words)
        == "tokenizer.ggml.pre: expected one of gpt-2, smollm, llama-bpe, qwen2, found "
           "'falcon'");
  words = small_byte_level();
  words.tokens.clear();
  CHECK(fault_of(words)
        == "tokenizer.ggml.tokens: expected 1 to 4194304 tokens, found 0");
  words = small_byte_level();
  words.tokens[5] = "<b>";
  CHECK(
    fault_of(words)
    == "tokenizer.ggml.tokens[5]: expected a text of its own, found that of token 3");
  words = small_byte_level();
  words.token_type.pop_back();
  CHECK(fault_of(words)
        == "tokenizer.ggml.token_type: expected one for each of 264 tokens, found 263");
  words = small_byte_level();
  words.token_type[7] = static_cast<token_kind>(7);
  CHECK(fault_of(words) == "tokenizer.ggml.token_type[7]: expected 1 to 6, found 7");
  words = small_byte_level();
  words.eos_token_id = 264;
  CHECK(fault_of(words)
        == "tokenizer.ggml.eos_token_id: expected an id below 264, found 264");
  words = with_bos(small_byte_level());
  words.bos_token_id.reset();
  CHECK(fault_of(words)
        == "tokenizer.ggml.bos_token_id: expected one, for the prompt is to begin with "
           "it");
  words = small_byte_level();
  words.add_eos_token = true;
  words.eos_token_id.reset();
  CHECK(
    fault_of(words)
    == "tokenizer.ggml.eos_token_id: expected one, for the prompt is to end with it");
}

TEST_CASE("merges and scores that aren't whole are refused, naming the entry",
          "[tokenizer]") {
  auto words = small_byte_level();
  for (const char* bad : {"", "h", "h ", " h", "he"}) {
    words.merges[1] = bad;
    CHECK(fault_of(words)
          == "tokenizer.ggml.merges[1]: expected two parts with a space between them");
  }
  words.merges[1] = "h o";
  CHECK(fault_of(words)
        == "tokenizer.ggml.merges[1]: expected both parts, and what they make, to be "
           "tokens of text");
  auto pieces = small_pieces();
  pieces.scores.pop_back();
  CHECK(fault_of(pieces)
        == "tokenizer.ggml.scores: expected one for each of 264 tokens, found 263");
  pieces = small_pieces();
  pieces.scores[9] = std::numeric_limits<float>::quiet_NaN();
  CHECK(fault_of(pieces) == "tokenizer.ggml.scores[9]: expected a number, found NaN");
}

TEST_CASE("tokens without text hold their places", "[tokenizer]") {
  auto words = small_byte_level();
  words.tokens.insert(words.tokens.end(), {"", ""});
  words.token_type.insert(words.token_type.end(),
                          {token_kind::normal, token_kind::control});
  const auto made = make(words);
  CHECK(encode(*made, {{"he", true}}) == ids{260});
  CHECK(made->piece(264).empty());
}

} // namespace perigee::engine
