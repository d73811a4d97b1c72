#include "engine/tokenizer/splitter.hpp"

#include "engine/tokenizer/utf8.hpp"
#include "schemas/assert.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace perigee::engine {

namespace {

// White space is spelled out: \s of PCRE2 has U+180E besides, which lost the property.
#define SPACE                                                                          \
  "\\t-\\r \\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}"      \
  "\\x{205F}\\x{3000}"

// Unicode 15.1, for PCRE2 10.42 knows but 14. Without these, two builds could disagree.
#define LETTER                                                                         \
  "\\p{L}\\x{1123F}-\\x{11240}\\x{11F02}\\x{11F04}-\\x{11F10}\\x{11F12}-\\x{11F33}"    \
  "\\x{1342F}\\x{13441}-\\x{13446}\\x{1B132}\\x{1B155}\\x{1DF25}-\\x{1DF2A}"           \
  "\\x{1E030}-\\x{1E06D}\\x{1E4D0}-\\x{1E4EB}\\x{2B739}\\x{2EBF0}-\\x{2EE5D}"          \
  "\\x{31350}-\\x{323AF}"
#define DIGIT "\\p{N}\\x{11F50}-\\x{11F59}\\x{1D2C0}-\\x{1D2D3}\\x{1E4F0}-\\x{1E4F9}"

// What takes all it can and never needs to give back is possessive, which keeps every
// pattern linear.
#define LETTERS " ?[" LETTER "]++"
#define DIGITS " ?[" DIGIT "]++"
#define OTHERS " ?[^" SPACE LETTER DIGIT "]++"
#define ENDINGS "'(?:[stmd]|re|ve|ll)"
#define ANY_CASE_ENDINGS "'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"
#define SPACES_UP_TO(END) "[" SPACE "]+(?![^" END "])|[" SPACE "]++"

constexpr const char* gpt2_pattern
  = ENDINGS "|" LETTERS "|" DIGITS "|" OTHERS "|" SPACES_UP_TO(SPACE);

// Digits are cut out first, and each stretch between them is a text of its own: white
// space before a digit stands at the end of one.
constexpr const char* smollm_pattern
  = "[" DIGIT "]|" ENDINGS "|" LETTERS "|" OTHERS "|" SPACES_UP_TO(SPACE DIGIT);

#define LLAMA3_PATTERN(SOME_DIGITS)                                                    \
  ANY_CASE_ENDINGS "|[^\\r\\n" LETTER DIGIT "]?+[" LETTER "]++|" SOME_DIGITS           \
                   "|" OTHERS "[\\r\\n]*+|[" SPACE "]*[\\r\\n]++|" SPACES_UP_TO(SPACE)

constexpr std::array rules{
  split_rule{"gpt-2", gpt2_pattern, false, false},
  split_rule{"smollm", smollm_pattern, false, false},
  split_rule{"llama-bpe", LLAMA3_PATTERN("[" DIGIT "]{1,3}+"), true, true},
  split_rule{"qwen2", LLAMA3_PATTERN("[" DIGIT "]"), false, false},
};

struct synonym {
  std::string_view name;
  std::string_view rule;
};

constexpr std::array synonyms{
  synonym{"llama3", "llama-bpe"},
  synonym{"llama-v3", "llama-bpe"},
  synonym{"deepseek-r1-qwen", "qwen2"},
};

/// `text` with each surrogate replaced by a character as long as it that is neither
/// letter, digit nor space, for PCRE2 knows none.
std::string without_surrogates(std::string_view text) {
  std::string plain{text};
  for (std::size_t i = 0; i + 2 < plain.size(); ++i) {
    if (plain[i] == '\xED' && static_cast<unsigned char>(plain[i + 1]) >= 0xA0)
      plain.replace(i, 3, "\xEE\x80\x80");
  }
  return plain;
}

} // namespace

std::span<const split_rule> split_rules() {
  return rules;
}

const split_rule* find_split_rule(std::string_view name) {
  const auto same = std::ranges::find(synonyms, name, &synonym::name);
  const auto rule = std::ranges::find(rules, same == synonyms.end() ? name : same->rule,
                                      &split_rule::name);
  return rule == rules.end() ? nullptr : &*rule;
}

struct splitter::compiled {
  std::unique_ptr<pcre2_code, decltype(&pcre2_code_free)> code{nullptr,
                                                               &pcre2_code_free};
  std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> limits{
    pcre2_match_context_create(nullptr), &pcre2_match_context_free};
};

splitter::splitter(const split_rule& rule, std::uint32_t steps) {
  auto made = std::make_shared<compiled>();
  int error = 0;
  PCRE2_SIZE at = 0;
  made->code.reset(
    pcre2_compile(reinterpret_cast<PCRE2_SPTR>(rule.pattern), PCRE2_ZERO_TERMINATED,
                  PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error, &at, nullptr));
  PERIGEE_ASSERT(made->code && made->limits, "the patterns are right");
  // Where there is no JIT, pcre2_match() interprets.
  pcre2_jit_compile(made->code.get(), PCRE2_JIT_COMPLETE);
  pcre2_set_match_limit(made->limits.get(), steps);
  compiled_ = std::move(made);
}

result<void, too_many_steps>
splitter::split(std::string_view text,
                const std::function<void(std::string_view word)>& on_word) const {
  const std::string plain = is_utf8(text) ? std::string{} : without_surrogates(text);
  const std::string_view subject = plain.empty() ? text : std::string_view{plain};
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match{
    pcre2_match_data_create(1, nullptr), &pcre2_match_data_free};
  PERIGEE_ASSERT(match, "memory for one match");
  for (std::size_t at = 0; at < text.size();) {
    const int found = pcre2_match(
      compiled_->code.get(), reinterpret_cast<PCRE2_SPTR>(subject.data()),
      subject.size(), at, PCRE2_NO_UTF_CHECK, match.get(), compiled_->limits.get());
    if (found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_HEAPLIMIT
        || found == PCRE2_ERROR_JIT_STACKLIMIT)
      return failure(too_many_steps{});
    PERIGEE_ASSERT(found > 0, "every character begins some word");
    const std::size_t end = pcre2_get_ovector_pointer(match.get())[1];
    on_word(text.substr(at, end - at));
    at = end;
  }
  return {};
}

} // namespace perigee::engine
