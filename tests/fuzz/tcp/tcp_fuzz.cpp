#include "schemas/assert.hpp"
#include "transport/streams/session.hpp"

#include <sys/eventfd.h>

// What another process sends over a connection is carried out, refused, or ends the
// connection; and no memory is touched that was not shown. The first byte says what the
// others are: 'h' what a stranger says first, 'w' what is answered to that, 'f' frames
// and their payload, of which the second byte says how many bytes come at once.

namespace {

using namespace perigee;
using namespace perigee::transport;
using namespace perigee::transport::streams;

constexpr geometry shape{.layer_bytes = 64, .layers = 2};
constexpr std::uint32_t blocks = 4;
constexpr segment_id shown{1}, hidden{2}, theirs{3};

/// Says what it was given, in small portions, then hangs up. Hears everything.
class script final : public stream {
public:
  script(std::span<const std::byte> lines, std::size_t portion)
    : lines_(lines), portion_(portion) {}

  int fd() const override {
    return always_.fd();
  }

  progress send(std::span<const iovec> parts, bool, int) override {
    std::size_t bytes = 0;
    for (const auto& one : parts) {
      const auto* begin = static_cast<const std::byte*>(one.iov_base);
      for (std::size_t i = 0; i < one.iov_len; ++i)
        heard_ ^= begin[i]; // so that a sanitizer sees them read
      bytes += one.iov_len;
    }
    return {.bytes = bytes};
  }

  progress receive(std::span<const iovec> into) override {
    progress came{.has_ended = lines_.empty()};
    for (const auto& one : into) {
      auto now = std::min({one.iov_len, lines_.size(), portion_ - came.bytes});
      std::copy_n(lines_.begin(), now, static_cast<std::byte*>(one.iov_base));
      lines_ = lines_.subspan(now);
      came.bytes += now;
    }
    return came;
  }

  void cut() override {}

private:
  std::span<const std::byte> lines_;
  const std::size_t portion_;
  const file always_{eventfd(1, EFD_CLOEXEC)}; // readable
  std::byte heard_{};
};

std::shared_ptr<std::byte> zeros() {
  return {new std::byte[blocks * shape.block_bytes()]{},
          std::default_delete<std::byte[]>{}};
}

job_ptr job_of(std::uint64_t number, const segment& here, bool is_write) {
  segment there{theirs, nullptr, shape, blocks, {}};
  move what;
  what.from = is_write ? here.id : theirs;
  what.to = is_write ? theirs : here.id;
  what.layers = {0, shape.layers};
  what.pairs = {{0, 1}, {2, 3}};
  what.opens = std::make_shared<gate>();
  return std::make_shared<job>(move_id{number}, what, here, there, peer_id{1}, is_write,
                               [](move_id, const outcome&) {});
}

void hear_frames(std::span<const std::byte> lines, std::size_t portion) {
  segment_table table;
  auto open = zeros(), secret = zeros();
  segment visible{shown, open.get(), shape, blocks, open};
  PERIGEE_ASSERT(table.add(visible), "there is room");
  PERIGEE_ASSERT(table.add({hidden, secret.get(), shape, blocks, secret}), "as well");
  peer_book book{table, {}};
  PERIGEE_ASSERT(book.add(peer_id{1}) && book.show(shown), "there is room");
  auto loop = event_loop::make();
  PERIGEE_ASSERT(loop, "no descriptors left");
  std::size_t told = 0;
  contention all;
  session subject{
    *loop,
    peer_id{1},
    book,
    {},
    peer_views{nullptr, 4},
    all,
    {.on_end = [&](const job_ptr& one, auto why) { told += one->run.end(why) || why; },
     .on_loss = [&](peer_id, loss) { loop->stop(); },
     .on_eased = [] {}},
    {std::make_shared<script>(lines, portion)}};
  subject.take(job_of(1, visible, true));
  subject.take(job_of(2, visible, false));
  loop->run(); // until the script is over, or it was too much
  subject.end_all(fault::peer_lost);
  PERIGEE_ASSERT(told == 2, "each move ends once");
  PERIGEE_ASSERT(std::all_of(secret.get(), secret.get() + blocks * shape.block_bytes(),
                             [](std::byte one) { return one == std::byte{}; }),
                 "what was not shown is not written");
}

template <std::size_t Bytes, class Read>
void hear_greeting(std::span<const std::byte> said, Read read) {
  if (said.size() >= Bytes)
    read(said.first<Bytes>());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2)
    return 0;
  auto rest = std::as_bytes(std::span{data + 2, size - 2});
  if (data[0] == 'h')
    hear_greeting<hello::bytes>(rest, [](auto said) {
      if (auto found = read_hello(said))
        PERIGEE_ASSERT(found->index < found->count && found->count <= links_max,
                       "a connection that a peer cannot have");
    });
  else if (data[0] == 'w')
    hear_greeting<welcome_bytes>(
      rest, [](auto said) { static_cast<void>(read_welcome(said)); });
  else
    hear_frames(rest, data[1] + std::size_t{1});
  return 0;
}
