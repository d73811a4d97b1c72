#include "transport/streams/frame.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

namespace perigee::transport::streams {
namespace {

using bytes = std::vector<std::byte>;

const frame some_put{.kind = frame_kind::put,
                     .number = 7,
                     .from = segment_id{3},
                     .to = segment_id{1},
                     .slices = {{0, 64, 64}, {128, 0, 32}}};

/// All frames in `from`, which is given `portion` bytes at a time.
std::vector<frame> parse(const bytes& from, std::size_t portion) {
  frame_parser subject;
  std::vector<frame> found;
  for (std::size_t at = 0; at < from.size(); at += portion) {
    auto now = std::span{from}.subspan(at, std::min(portion, from.size() - at));
    while (true) {
      auto next = subject.take(now);
      REQUIRE(next);
      if (!*next)
        break;
      found.push_back(**next);
    }
    CHECK(now.empty());
  }
  return found;
}

TEST_CASE("frames come out as they went in, in whatever portions they come") {
  std::vector<frame> all{
    some_put,
    {.kind = frame_kind::done, .number = 8},
    {.kind = frame_kind::show, .from = segment_id{2}, .slices = {{4096, 0, 1 << 30}}},
    {.kind = frame_kind::get, .slices = std::vector<slice>(slices_max, {1, 2, 3})},
    {.kind = frame_kind::refused, .number = ~std::uint64_t{0}}};
  bytes written;
  for (const auto& one : all) {
    auto next = write(one);
    written.insert(written.end(), next.begin(), next.end());
  }
  for (auto portion :
       {std::size_t{1}, std::size_t{7}, std::size_t{32}, written.size()}) {
    auto found = parse(written, portion);
    REQUIRE(found.size() == all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      CHECK(found[i] == all[i]);
  }
}

TEST_CASE("a frame is found unsound from its head, before the rest has come") {
  auto head = write(some_put);
  head.resize(32);
  head[2] = head[3] = std::byte{0xff}; // 65,535 slices
  frame_parser subject;
  std::span<const std::byte> in{head};
  CHECK(subject.take(in).error() == loss::unsound);
}

TEST_CASE("greetings come out as they went in, and others are none") {
  hello said{.index = 2, .count = 4};
  said.shown.secret.fill(std::byte{9});
  auto written = write(said);
  auto found = read_hello(written);
  REQUIRE(found);
  CHECK(found->shown == said.shown);
  CHECK(found->index == 2);
  CHECK(found->count == 4);
  written[0] = std::byte{'P'};
  CHECK_FALSE(read_hello(written));
  CHECK(read_welcome(write_welcome(true)) == true);
  CHECK(read_welcome(write_welcome(false)) == false);
  CHECK_FALSE(read_welcome(std::array<std::byte, welcome_bytes>{}));
}

TEST_CASE("write the seeds of the fuzz target", "[.]") {
  std::filesystem::path seeds = PERIGEE_SOURCE_DIR "/tests/fuzz/tcp/seeds";
  auto keep = [&](const char* name, char kind, const auto&... parts) {
    std::ofstream out{seeds / name, std::ios::binary};
    out << kind << '\x1f';
    (out.write(reinterpret_cast<const char*>(parts.data()),
               static_cast<std::streamsize>(parts.size())),
     ...);
  };
  auto request = [](frame_kind kind, std::uint64_t which, std::vector<slice> slices) {
    auto id = segment_id{which};
    return write(
      frame{.kind = kind, .number = 1, .from = id, .to = id, .slices = slices});
  };
  auto answer = [](frame_kind kind, std::uint64_t number) {
    return write(frame{.kind = kind, .number = number});
  };
  bytes payload(256, std::byte{0x5a});
  keep("hello", 'h', write(hello{.index = 1, .count = 4}));
  keep("welcome", 'w', write_welcome(true));
  keep("put", 'f', request(frame_kind::put, 1, {{0, 0, 128}, {0, 256, 128}}), payload);
  keep("get", 'f', request(frame_kind::get, 1, {{0, 0, 512}}),
       request(frame_kind::get, 1, {{64, 0, 64}}));
  keep("refused", 'f', request(frame_kind::put, 2, {{0, 0, 256}}), payload,
       request(frame_kind::get, 1, {{500, 0, 64}}));
  keep("answers", 'f', answer(frame_kind::done, 1), answer(frame_kind::data, 2),
       payload);
  keep("refusals", 'f', answer(frame_kind::refused, 2), answer(frame_kind::refused, 1));
  keep("shown", 'f', request(frame_kind::show, 3, {{0, 0, 4096}}),
       request(frame_kind::ask, 1, {}), request(frame_kind::copy, 1, {{0, 0, 64}}));
}

} // namespace
} // namespace perigee::transport::streams
