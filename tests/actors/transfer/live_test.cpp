#include "actors/asker.hpp"
#include "actors/runtime/doorway.hpp"
#include "actors/transfer/transfer.hpp"
#include "tests/actors/transfer/doubles.hpp"
#include "tests/transport/recorder.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <atomic>
#include <thread>

// With real threads: outcomes come from the transport's own thread, through a doorway.

namespace perigee::transfer {
namespace {

using transport::segment_id;
using transport::test::memory;

/// Counts the answers, by whether they were good.
struct counting_group {
  using handle = prefill_actor;
  static constexpr const char* name = "counting_group";

  struct tally {
    std::atomic<unsigned> good{0}, bad{0};
  };

  counting_group(handle::pointer self, const rt::world& in, tally* heard)
    : desk_(self, in, name), heard_(heard) {}

  template <class T>
  void ignore(const Msg<T>&) {}

  template <class T>
  auto deaf() {
    return desk_.on(this, &counting_group::ignore<T>);
  }

  handle::behavior_type make_behavior() {
    return {deaf<schema::Prefill>(),   deaf<schema::Prompt>(),
            deaf<schema::Cancel>(),    deaf<schema::Roomed>(),
            deaf<schema::HandedOff>(), deaf<schema::Pinned>(),
            deaf<schema::Reserved>(),  desk_.on(this, &counting_group::on_moved),
            deaf<schema::Forwarded>(), deaf<schema::Member>(),
            deaf<schema::Due>(),       deaf<schema::Tick>()};
  }

  void on_moved(const Msg<schema::Moved>& said) {
    ++(said->getFault() == schema::MoveFault::NONE ? heard_->good : heard_->bad);
  }

  rt::desk<handle> desk_;
  tally* heard_;
};

TEST_CASE("with real threads every movement is answered once, and bytes are there") {
  rt::system_config config;
  rt::learn_messages<caf::id_block::perigee>(config);
  caf::actor_system system{config};
  rt::roster roster{8};
  auto log = std::make_shared<spdlog::logger>(
    "quiet", std::make_shared<spdlog::sinks::null_sink_mt>());
  rt::world in{system, rt::no_journal(), roster, log, "n0", node_index{0}};
  memory from{segment_id{1}, 1}, to{segment_id{2}, 99};
  shared_memory shared{std::make_shared<transport::segment_table>(),
                       transport::gate_board::make()};
  REQUIRE(shared.segments->add(from.as_segment()));
  REQUIRE(shared.segments->add(to.as_segment()));
  counting_group::tally heard;
  rt::doorway door{in, "test"};
  auto group = rt::spawn<counting_group>(in, {}, &heard);
  roster.seat(prefill_name{}, {group, {1, 1}, door.tag()});
  auto subject = start(in, {}, shared, local_path);
  auto computed = shared.gates->open(transport::gate_id{5});

  constexpr unsigned wishes = 200;
  for (unsigned ticket = 0; ticket < wishes; ++ticket)
    door.tell<schema::Push>(subject, rt::unprompted, [&](schema::Push::Builder asked) {
      set_asker(asked.initAsker(), prefill_name{});
      asked.setTicket(ticket);
      auto what = asked.initWhat();
      what.setFrom(1);
      what.setTo(ticket % 10 == 9 ? 3 : 2);
      what.setSources({ticket % 8});
      what.setTargets({ticket % 8});
      what.setAwaitGate(ticket % 2 ? 5 : 0);
    });
  for (std::uint32_t layer = 1; layer <= 3; ++layer)
    computed->open_to(layer);
  while (heard.good + heard.bad < wishes)
    std::this_thread::yield();
  CHECK(heard.bad == wishes / 10);
  rt::kill(subject);
  rt::kill(group);
  roster.clear();
  subject = nullptr;
  group = nullptr;
  system.await_all_actors_done();
  for (std::uint32_t block = 0; block < 8; ++block)
    CHECK(from.layer(block, 2) == to.layer(block, 2));
}

} // namespace
} // namespace perigee::transfer
