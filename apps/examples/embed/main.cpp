#include "little_cluster.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <cstdio>
#include <sstream>

namespace {

/// A logger whose lines go to `text`.
std::shared_ptr<spdlog::logger> log_into(std::ostringstream& text, const char* name) {
  auto log = std::make_shared<spdlog::logger>(
    name, std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  log->set_pattern("%n: %v");
  return log;
}

std::string last_line(std::string text) {
  text.resize(text.find_last_not_of('\n') + 1);
  return text.substr(text.rfind('\n') + 1);
}

int failures = 0;

void check(const char* what, const std::string& is, const std::string& expected) {
  bool as_expected = is == expected;
  std::printf("%-24s %s%s\n", what, is.c_str(), as_expected ? "" : "   WRONG");
  failures += as_expected ? 0 : 1;
}

/// Tokens of prompts that need not be computed, because the pool had them.
std::uint64_t reused(const embed::little_cluster& by) {
  std::uint64_t tokens = 0;
  for (const auto& [where, probe] : by.counts().prefills)
    probe->each([&](std::string_view name, const char*, std::uint64_t value) {
      if (name == "tokens_reused_total")
        tokens += value;
    });
  return tokens;
}

} // namespace

int main() {
  std::ostringstream one_says, two_says;
  {
    embed::little_cluster one{"one", 3, log_into(one_says, "one")};
    embed::little_cluster two{"two", 5, log_into(two_says, "two")};
    check("one, asked abc:", one.ask("abc", 9), "abcabcabc");
    check("two, asked hello:", two.ask("hello", 10), "hellohello");

    const std::string poem = "the owl and the pussycat went to sea";
    check("one, a longer prompt:", one.ask(poem, 6), "seasea");
    check("the same again:", one.ask(poem, 6), "seasea");
    std::printf("reused, by one %lu tokens, by two %lu\n",
                static_cast<unsigned long>(reused(one)),
                static_cast<unsigned long>(reused(two)));
    failures += reused(one) > 0 && reused(two) == 0 ? 0 : 1;
  }
  for (const auto* log : {&one_says, &two_says})
    check("both logged their end:", last_line(log->str()), "cluster: drained");
  return failures == 0 ? 0 : 1;
}
