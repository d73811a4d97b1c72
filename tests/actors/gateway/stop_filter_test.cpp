#include "actors/gateway/stop_filter.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>

namespace perigee::gateway {
namespace {

struct outcome {
  std::string text;
  bool stopped;
  auto operator<=>(const outcome&) const = default;
};

/// What should come of `text`, found the slow way: character by character.
outcome by_hand(const std::string& text, const std::vector<std::string>& stops) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::size_t longest = 0;
    for (const auto& stop : stops)
      if (std::string_view{text}.substr(0, end).ends_with(stop))
        longest = std::max(longest, stop.size());
    if (longest > 0)
      return {text.substr(0, end - longest), true};
  }
  return {text, false};
}

/// Cuts `text` where `cuts` has a bit, and checks after each piece that no more is held
/// back than could become a stop string.
outcome in_pieces(const std::string& text, const std::vector<std::string>& stops,
                  std::uint64_t cuts) {
  stop_filter filter{stops};
  outcome got{"", false};
  std::size_t begin = 0;
  for (std::size_t end = 1; end <= text.size(); ++end) {
    if (end < text.size() && !(cuts >> (end - 1) & 1))
      continue;
    got.text += filter.push(std::string_view{text}.substr(begin, end - begin));
    begin = end;
    if (filter.stopped())
      break;
    auto held = text.substr(got.text.size(), end - got.text.size());
    bool may_become_one
      = std::any_of(stops.begin(), stops.end(), [&](const auto& stop) {
          return held.size() < stop.size() && stop.starts_with(held);
        });
    CHECK((held.empty() || may_become_one));
  }
  got.stopped = filter.stopped();
  got.text += filter.flush();
  return got;
}

} // namespace

TEST_CASE(
  "however a text is cut, the same comes out, and only what must is held back") {
  const std::vector<std::vector<std::string>> all_stops{
    {"a"}, {"ab"}, {"aab", "b"}, {"abc", "b"}, {"bcd", "abcde"}, {"aa"}, {"c", "cc"}};
  const std::vector<std::string> texts{"",        "a",       "aab",     "abcabc",
                                       "ccccabb", "aaaaaab", "xaxbxcx", "abcdabcde"};
  for (const auto& stops : all_stops)
    for (const auto& text : texts) {
      auto right = by_hand(text, stops);
      std::size_t ways = text.size() < 2 ? 1 : std::size_t{1} << (text.size() - 1);
      for (std::uint64_t cuts = 0; cuts < ways; ++cuts) {
        INFO("text " << text << ", first stop " << stops[0] << ", cuts " << cuts);
        CHECK(in_pieces(text, stops, cuts) == right);
      }
    }
}

TEST_CASE("every text of two letters up to seven long is cut every way") {
  const std::vector<std::string> stops{"aba", "bb"};
  for (std::size_t size = 1; size <= 7; ++size)
    for (std::uint64_t letters = 0; letters < std::uint64_t{1} << size; ++letters) {
      std::string text;
      for (std::size_t i = 0; i < size; ++i)
        text += letters >> i & 1 ? 'a' : 'b';
      auto right = by_hand(text, stops);
      for (std::uint64_t cuts = 0; cuts < std::uint64_t{1} << (size - 1); ++cuts)
        if (in_pieces(text, stops, cuts) != right)
          FAIL(text << " cut by " << cuts);
    }
}

TEST_CASE("without stop strings nothing is held back") {
  stop_filter filter{{}};
  CHECK(filter.push("abc") == "abc");
  CHECK(filter.flush().empty());
}

TEST_CASE("after a stop string nothing comes out") {
  stop_filter filter{{"."}};
  CHECK(filter.push("a.b") == "a");
  CHECK(filter.stopped());
  CHECK(filter.push("c").empty());
  CHECK(filter.flush().empty());
}

} // namespace perigee::gateway
