#include "tests/journal/scratch.hpp"

#include <map>
#include <thread>

// From many threads at once, as in a process that serves. Also under ThreadSanitizer.

namespace perigee::journal {
namespace {

constexpr std::uint64_t senders = 4;
constexpr std::uint64_t each = 2000;

void speak(writer& to, std::uint64_t tag) {
  to.introduce(actor(tag, "n0@3/decode." + std::to_string(tag) + "#1"));
  for (std::uint64_t i = 1; i <= each; ++i) {
    auto words = prompt(tag, i, {1, 2, 3, 4});
    to.sent({tag, 0, 0, message_of(tag, i, words)});
    to.took({tag, static_cast<std::int64_t>(i), message_of(tag, i, words)});
  }
}

TEST_CASE("what each of many threads tells is all there, in its order") {
  scratch here;
  auto how = in_folder(here.path());
  how.in_background = true;
  {
    auto to = open_in(how);
    std::vector<std::thread> all;
    for (std::uint64_t tag = 1; tag <= senders; ++tag)
      all.emplace_back([&, tag] { speak(*to, tag); });
    for (auto& one : all)
      one.join();
    CHECK(to->left_out() == 0);
  }
  std::map<std::uint64_t, std::uint64_t> sent_last, took_last;
  auto end = read_bytes(read_file(segments_of(here)[0]), [&](const record& one) {
    if (auto* sent = std::get_if<sending>(&one))
      CHECK(sent->what.sequence == ++sent_last[sent->by]);
    else if (auto* taken = std::get_if<taking>(&one))
      CHECK(taken->what.sequence == ++took_last[taken->by]);
  });
  CHECK(end == "end");
  for (std::uint64_t tag = 1; tag <= senders; ++tag) {
    CHECK(sent_last[tag] == each);
    CHECK(took_last[tag] == each);
  }
}

TEST_CASE("what the disk is too slow for is left out, and the journal says how much") {
  scratch here;
  auto how = in_folder(here.path());
  how.in_background = true;
  how.waiting_bytes_max = 0; // a full frame waits: nothing more may
  std::uint64_t left_out = 0;
  {
    auto to = open_in(how);
    speak(*to, 1);
    left_out = to->left_out();
  }
  std::uint64_t told = 0, there = 0;
  auto end = read_bytes(read_file(segments_of(here)[0]), [&](const record& one) {
    if (auto* it = std::get_if<gap>(&one))
      told += it->records;
    there
      += std::holds_alternative<sending>(one) || std::holds_alternative<taking>(one);
  });
  CHECK(end == "end");
  CHECK(there + left_out == 2 * each);
  CHECK(told <= left_out); // a last gap may have nothing after it
}

} // namespace
} // namespace perigee::journal
