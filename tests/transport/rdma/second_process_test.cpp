#include "tests/transport/rdma/rdma_bed.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;
using namespace test;

constexpr segment_id ours{1}, theirs{2};
constexpr peer_id us{101}, them{102};
constexpr geometry layered{.layer_bytes = std::uint64_t{1} << 20, .layers = 16};

void pass_on(int to, const opaque& what) {
  auto size = what.size();
  REQUIRE(write(to, &size, sizeof size) == sizeof size);
  REQUIRE(write(to, what.data(), size) == static_cast<ssize_t>(size));
}

opaque take_over(int from) {
  std::size_t size = 0;
  REQUIRE(read(from, &size, sizeof size) == sizeof size);
  opaque what(size);
  REQUIRE(read(from, what.data(), size) == static_cast<ssize_t>(size));
  return what;
}

/// The memory of a process, and its transport.
struct end {
  end(const char* device, segment_id id, unsigned char salt)
    : bytes(4 * layered.block_bytes(), std::byte{salt}) {
    REQUIRE(all.segments.add({id, bytes.data(), layered, 4, {}}));
    auto how = lively();
    how.devices = {device};
    all.subject = opened(all, how);
  }

  move blocks(segment_id from, segment_id to) const {
    auto what = whole_blocks(from, to, {{0, 1}, {2, 3}});
    what.layers = {0, layered.layers};
    what.opens = std::make_shared<gate>();
    return what;
  }

  std::vector<std::byte> bytes;
  process all; // ends before its memory does
};

/// Another process, which lets this one connect, and writes into it without end.
class second_process {
public:
  second_process() {
    int to_us[2], to_them[2];
    REQUIRE(pipe(to_us) == 0);
    REQUIRE(pipe(to_them) == 0);
    id_ = fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0)
      run(to_them[0], to_us[1]);
    from_ = to_us[0];
    to_ = to_them[1];
    close(to_them[0]);
    close(to_us[1]);
  }

  ~second_process() {
    send(SIGKILL);
    waitpid(id_, nullptr, 0);
    close(from_);
    close(to_);
  }

  void send(int signal) const {
    kill(id_, signal);
  }

  /// Connects `here` to it; both know each other's segments.
  void meet(end& here) const {
    auto& subject = *here.all.subject;
    REQUIRE(subject.connect(them, take_over(from_), connected_pair::key(1)));
    here.all.peers.next_of(them, peer_state::up);
    REQUIRE(subject.learn(them, take_over(from_)));
    pass_on(to_, subject.describe(ours).value());
  }

private:
  [[noreturn]] static void run(int from, int to) {
    end there{"rxe1", theirs, 2};
    auto& subject = *there.all.subject;
    REQUIRE(subject.expect(us, connected_pair::key(1), 1min));
    pass_on(to, subject.here());
    pass_on(to, subject.describe(theirs).value());
    there.all.peers.next_of(us, peer_state::up);
    REQUIRE(subject.learn(us, take_over(from)));
    for (std::uint64_t id = 1;; ++id) {
      recorder heard;
      if (subject.submit(move_id{id}, there.blocks(theirs, ours), heard.pen()))
        static_cast<void>(heard.of(move_id{id}));
      else
        pause(); // we are known no longer
    }
  }

  pid_t id_ = -1;
  int from_ = -1, to_ = -1;
};

bool is_written_to(const end& here) {
  const volatile std::byte& watched = here.bytes[layered.block_bytes()];
  for (auto left = 3000; left > 0 && watched != std::byte{2}; --left)
    std::this_thread::sleep_for(10ms);
  return watched == std::byte{2};
}

TEST_CASE("the moves of a peer that is killed are told so, as its owner is") {
  second_process other;
  end here{"rxe0", ours, 1};
  other.meet(here);
  recorder heard;
  auto what = here.blocks(ours, theirs);
  REQUIRE(here.all.subject->submit(move_id{1}, what, heard.pen()));
  REQUIRE(what.opens->wait(0, 1min));
  other.send(SIGKILL);
  CHECK(heard.fault_of(move_id{1}) == fault::peer_lost);
  CHECK(here.all.peers.next_of(them, peer_state::lost).why == loss::disconnected);
  CHECK(what.opens->read().failed);
}

TEST_CASE(
  "a peer that writes and writes, and even one that sleeps and wakes, writes no "
  "more once it was forgotten") {
  bool sleeps = GENERATE(false, true);
  second_process other;
  end here{"rxe0", ours, 1};
  other.meet(here);
  CHECK(is_written_to(here));
  if (sleeps)
    other.send(SIGSTOP);
  here.all.subject->forget(them);
  here.all.peers.next_of(them, peer_state::forgotten);
  here.bytes.assign(here.bytes.size(), std::byte{0x5a});
  other.send(SIGCONT);
  std::this_thread::sleep_for(300ms);
  CHECK(are_all(here.bytes, std::byte{0x5a}));
}

} // namespace
} // namespace perigee::transport
