#include "transport/shm/shm.hpp"

#include "tests/transport/peer_bed.hpp"

#include <fcntl.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <filesystem>

namespace perigee::transport {
namespace {

using namespace std::chrono_literals;
using namespace test;

class shm_bed final : public pair_bed {
public:
  explicit shm_bed(shm::options how = {}) {
    how.limits.outstanding_max = outstanding_max;
    how.limits.book = {.peers_max = peers_max, .segments_max = segments_max};
    for (auto* one : {&left_, &right_})
      one->subject = shm::open(one->segments, memory_, how, one->peers.pen()).value();
  }

  process& left() override {
    return left_;
  }

  process& right() override {
    return right_;
  }

  std::shared_ptr<std::byte> allocate(process&, std::size_t bytes) override {
    return memory_->allocate(bytes);
  }

private:
  std::shared_ptr<shm::memory> memory_ = std::make_shared<shm::memory>();
  process left_, right_;
};

std::unique_ptr<pair_bed> bed() {
  return std::make_unique<shm_bed>();
}

TEST_CASE("the shm transport does what every transport between processes does") {
  conforms(make_pair_bed{bed});
}

TEST_CASE("so it does with small requests and a narrow window") {
  shm::options how;
  how.limits.session.request_bytes = 10'001;
  how.limits.session.window_bytes = 30'000;
  conforms(make_pair_bed{[=] { return std::make_unique<shm_bed>(how); }});
}

TEST_CASE("memory that peers cannot see is not described, and not written from") {
  connected_pair here{bed};
  memory own{segment_id{9}};
  REQUIRE(here.bed->left().segments.add(own.as_segment()));
  CHECK(here.left().describe(segment_id{9}).error() == fault::refused);
  recorder heard;
  auto write = whole_blocks(segment_id{9}, here.right_segment, {{0, 0}});
  CHECK(here.left().submit(move_id{1}, write, heard.pen()).error() == fault::refused);
  auto read = whole_blocks(here.right_segment, segment_id{9}, {{0, 1}});
  REQUIRE(here.left().submit(move_id{2}, read, heard.pen())); // it is copied here
  CHECK(heard.of(move_id{2}));
  CHECK(own.layer(1, 0) == here.right_memory.layer(0, 0));
}

/// A process of its own that holds a segment, and a child of it that holds its files.
class other_process {
public:
  static constexpr peer_id name{1};
  static constexpr segment_id its_segment{50};

  other_process() {
    REQUIRE(pipe2(pipe_.data(), O_CLOEXEC) == 0);
    process_ = fork(); // no thread is running here
    if (process_ == 0)
      live(pipe_[1]);
    ::close(std::exchange(pipe_[1], -1));
    where = hear();
    shown = hear();
  }

  other_process(const other_process&) = delete;
  other_process& operator=(const other_process&) = delete;

  ~other_process() {
    kill_it();
    if (heir_ > 0)
      ::kill(heir_, SIGKILL);
    ::close(pipe_[0]);
  }

  /// To be called when the connection is up.
  void await_heir() {
    REQUIRE(read(pipe_[0], &heir_, sizeof heir_) == sizeof heir_);
  }

  void stop() const {
    ::kill(process_, SIGSTOP);
    waitpid(process_, nullptr, WUNTRACED); // until it has
  }

  void kill_it() {
    if (process_ <= 0)
      return;
    ::kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }

  endpoint where;
  descriptor shown;

private:
  [[noreturn]] static void live(int out) {
    segment_table segments;
    auto from = std::make_shared<shm::memory>();
    auto bytes = from->allocate(blocks_total * small.block_bytes());
    std::fill_n(bytes.get(), blocks_total * small.block_bytes(), std::byte{0x77});
    if (!segments.add({its_segment, bytes.get(), small, blocks_total, bytes}))
      _exit(1);
    std::atomic<bool> is_up = false;
    auto subject = shm::open(segments, from, {}, [&](peer_id, const peer_news& what) {
      is_up = what.state == peer_state::up;
    });
    if (!subject || !(*subject)->expect(name, connected_pair::key(1), 1min))
      _exit(1);
    say(out, (*subject)->here());
    say(out, (*subject)->describe(its_segment).value());
    while (!is_up)
      std::this_thread::yield();
    auto heir = fork();
    if (heir != 0 && write(out, &heir, sizeof heir) != sizeof heir)
      _exit(1);
    while (true)
      pause();
  }

  static void say(int out, const opaque& what) {
    auto bytes = what.size();
    if (write(out, &bytes, sizeof bytes) != sizeof bytes
        || write(out, what.data(), bytes) != static_cast<ssize_t>(bytes))
      _exit(1);
  }

  opaque hear() const {
    std::size_t bytes = 0;
    REQUIRE(read(pipe_[0], &bytes, sizeof bytes) == sizeof bytes);
    opaque heard(bytes);
    REQUIRE(read(pipe_[0], heard.data(), bytes) == static_cast<ssize_t>(bytes));
    return heard;
  }

  std::array<int, 2> pipe_{};
  pid_t process_ = 0;
  pid_t heir_ = 0;
};

TEST_CASE("a process that dies is noticed though its connection lives on") {
  other_process other;
  process here;
  auto from = std::make_shared<shm::memory>();
  shm::options how;
  how.limits.session.silence_limit = 1h; // it is not that
  here.subject = shm::open(here.segments, from, how, here.peers.pen()).value();
  memory own{segment_id{1}};
  REQUIRE(here.segments.add(own.as_segment()));
  REQUIRE(here.subject->connect(other.name, other.where, connected_pair::key(1)));
  here.peers.next_of(other.name, peer_state::up);
  other.await_heir();
  REQUIRE(here.subject->learn(other.name, other.shown));
  recorder heard;
  auto read = whole_blocks(other.its_segment, segment_id{1}, {{0, 1}});
  REQUIRE(here.subject->submit(move_id{1}, read, heard.pen()));
  REQUIRE(heard.of(move_id{1}));
  CHECK(own.layer(1, 2) == std::vector<std::byte>(64, std::byte{0x77}));
  read.wait_for = std::make_shared<gate>();
  REQUIRE(here.subject->submit(move_id{2}, read, heard.pen()));
  other.kill_it();
  CHECK(heard.fault_of(move_id{2}) == fault::peer_lost);
  CHECK(here.peers.next_of(other.name, peer_state::lost).why == loss::disconnected);
}

TEST_CASE("a process that is stopped is lost as silent once it owes an answer") {
  other_process other;
  process here;
  auto from = std::make_shared<shm::memory>();
  shm::options how;
  how.limits.session.silence_limit = 50ms;
  here.subject = shm::open(here.segments, from, how, here.peers.pen()).value();
  auto bytes = from->allocate(blocks_total * small.block_bytes());
  REQUIRE(here.segments.add({segment_id{1}, bytes.get(), small, blocks_total, bytes}));
  REQUIRE(here.subject->connect(other.name, other.where, connected_pair::key(1)));
  here.peers.next_of(other.name, peer_state::up);
  other.await_heir();
  REQUIRE(here.subject->learn(other.name, other.shown));
  other.stop();
  recorder heard;
  REQUIRE(here.subject->submit(
    move_id{1}, whole_blocks(segment_id{1}, other.its_segment, {{0, 1}}), heard.pen()));
  CHECK(heard.fault_of(move_id{1}) == fault::peer_lost);
  CHECK(here.peers.next_of(other.name, peer_state::lost).why == loss::silent);
}

TEST_CASE("a socket with a path goes with its transport") {
  auto path = std::filesystem::temp_directory_path()
              / ("perigee_shm_" + std::to_string(::getpid()));
  segment_table none;
  auto memory = std::make_shared<shm::memory>();
  auto nobody = [](peer_id, const peer_news&) {};
  auto subject = shm::open(none, memory, {.path = path.string()}, nobody).value();
  CHECK(std::filesystem::is_socket(path));
  auto second = shm::open(none, memory, {.path = path.string()}, nobody);
  REQUIRE_FALSE(second);
  CHECK(second.error().what.starts_with("cannot listen at '" + path.string() + "'"));
  subject.reset();
  CHECK_FALSE(std::filesystem::exists(path));
  auto wrong = shm::open(none, memory, {.path = "relative"}, nobody);
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().what.starts_with("'relative' is no path that a socket can have"));
}

} // namespace
} // namespace perigee::transport
