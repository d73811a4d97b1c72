#include "actors/rejector/admission_policy.hpp"

#include <catch2/catch.hpp>

namespace perigee::rejector {
namespace {

using namespace std::chrono_literals;
using conductor::arrival;
using conductor::group_id;
using conductor::instance_id;
using conductor::loads;
using conductor::reason;
using conductor::wish;

constexpr group_id g0{node_index{0}, 0}, g1{node_index{1}, 0};
constexpr instance_id d0{node_index{0}, 0}, d1{node_index{1}, 0};

/// A prefill takes a second; a decode step takes 10 ms for each sequence.
const conductor::cost_model simple{.prefill = {1e9, 0, 0},
                                   .decode = {0, 10e6, 0},
                                   .link = {},
                                   .disk = {},
                                   .kv_token_bytes = 1};

struct cluster {
  cluster() {
    all.decode_time = 10s;
    all.prefills = {{g0, {}}, {g1, {}}};
    all.decodes = {{d0, {}}};
  }

  std::optional<conductor::refusal> judge(std::string_view name) const {
    return make_admission(name)->judge(one, {now, all, simple, 1});
  }

  bool admits(std::string_view name) const {
    return !judge(name);
  }

  moment now = 100s;
  loads all;
  wish one{.prompt_tokens = 100, .decodes = true, .ttft_limit = 2s, .tbt_limit = 100ms};
};

SCENARIO("an idle cluster admits everybody") {
  GIVEN("nobody else") {
    cluster idle;
    THEN("no policy turns away") {
      for (auto name : admission_names())
        CHECK(idle.admits(name));
    }
  }
}

SCENARIO("a high prefill load turns away, under all policies that look at loads") {
  GIVEN("queues of five seconds and of two and a half, and an objective of two") {
    cluster some;
    some.all.prefills[g0].free_at = some.now + 5s;
    some.all.prefills[g1].free_at = some.now + 2500ms;
    THEN("not even the shorter one is short enough, by half a second") {
      for (auto name : {"baseline", "early_rejection", "early_rejection_predicted"}) {
        auto why = some.judge(name).value();
        CHECK(why.why == reason::prefill_load);
        CHECK(why.load == Approx(1.25));
        CHECK(why.retry_after == 500ms);
      }
      CHECK(some.admits("none"));
    }
    WHEN("a second has passed") {
      some.now += 1s;
      THEN("it is not") {
        CHECK(some.admits("baseline"));
      }
    }
  }
}

SCENARIO("who would not wait is admitted, however busy others are") {
  GIVEN(
    "a group with an hour of work, of one prompt of millions of tokens, and an idle "
    "one") {
    cluster some;
    some.all.prefills[g0].free_at = some.now + 1h;
    THEN("every policy admits") {
      for (auto name : admission_names())
        CHECK(some.admits(name));
    }
    WHEN("the other has too much to do as well") {
      some.all.prefills[g1].free_at = some.now + 3s;
      THEN("all that look turn away") {
        for (auto name : admission_names())
          CHECK(some.admits(name) == (name == "none"));
      }
    }
  }
  GIVEN("a decode instance whose steps are long, and an idle one") {
    cluster some;
    some.all.decodes[d0].began.assign(100, some.now - 1s);
    some.all.decodes[d1] = {};
    THEN("every policy admits") {
      for (auto name : admission_names())
        CHECK(some.admits(name));
    }
  }
}

SCENARIO("baseline looks at decode when the prefill is done, the others before") {
  GIVEN("a decode batch that is too large now") {
    cluster some;
    some.all.decodes[d0].began.assign(11, some.now - 1s);
    THEN("baseline admits, and has the conductor admit") {
      CHECK(some.admits("baseline"));
      CHECK(make_admission("baseline")->wanted(1).tbt == conductor::tbt_check::none);
    }
    THEN("early rejection turns away, until some have ended") {
      auto why = some.judge("early_rejection").value();
      CHECK(why.why == reason::decode_load);
      CHECK(why.load == Approx(1.1));
      CHECK(why.retry_after > 0s);
      CHECK(why.retry_after <= 10s);
    }
    THEN("who wants one token does not mind") {
      some.one.decodes = false;
      CHECK(some.admits("early_rejection"));
    }
    WHEN("they will have ended when the request leaves prefill") {
      some.all.decodes[d0].began.assign(11, some.now - 9500ms);
      THEN("the prediction admits what early rejection does not") {
        CHECK_FALSE(some.admits("early_rejection"));
        CHECK(some.admits("early_rejection_predicted"));
      }
    }
  }
  GIVEN("an idle decode instance to which many are on their way") {
    cluster some;
    some.all.decodes[d0].coming.assign(11, arrival{some.now + 500ms, {}, 100});
    THEN("the prediction turns away what early rejection admits") {
      CHECK(some.admits("early_rejection"));
      CHECK_FALSE(some.admits("early_rejection_predicted"));
    }
    WHEN("they come after the request") {
      some.all.decodes[d0].coming.assign(11, arrival{some.now + 1500ms, {}, 100});
      THEN("they don't count") {
        CHECK(some.admits("early_rejection_predicted"));
      }
    }
    WHEN("every group has a queue, which the request must wait out") {
      some.all.decodes[d0].coming.assign(11, arrival{some.now + 1500ms, {}, 100});
      some.all.prefills[g0].free_at = some.all.prefills[g1].free_at = some.now + 1s;
      THEN("they do") {
        CHECK_FALSE(some.admits("early_rejection_predicted"));
      }
    }
  }
}

// Section 7.3 of the technical report: what early rejection alone brings about.
SCENARIO(
  "rejection by the present load lets the pools swing, prediction steadies them") {
  GIVEN("arrivals at twice the rate that decode can take") {
    struct course {
      int most_decoding = 0;
      int least_decoding = 1000;
      int late = 0; // admitted, and then in a batch that is too large

      int swing() const {
        return most_decoding - least_decoding;
      }
    };
    auto run = [](std::string_view name) {
      cluster some;
      some.one.ttft_limit = 60s; // decode is what is short
      auto policy = make_admission(name);
      auto& line = some.all.decodes[d0];
      auto& queue = some.all.prefills;
      queue = {{g0, {}}};
      course seen;
      for (int tenths = 0; tenths < 3000; ++tenths) {
        some.now = 100ms * tenths;
        std::erase_if(line.began, [&](moment b) { return b + 10s <= some.now; });
        std::erase_if(line.coming, [&](const arrival& one) {
          if (one.at > some.now)
            return false;
          line.began.push_back(some.now);
          seen.late += line.began.size() > 10;
          return true;
        });
        if (tenths > 1000) {
          int decoding = static_cast<int>(line.began.size());
          seen.most_decoding = std::max(seen.most_decoding, decoding);
          seen.least_decoding = std::min(seen.least_decoding, decoding);
        }
        if (tenths % 5 != 0 || policy->judge(some.one, {some.now, some.all, simple, 1}))
          continue;
        line.coming.push_back({some.now + 6s, {}, 100}); // a prefill takes six seconds
        queue[g0].free_at = some.now + 6s;
      }
      return seen;
    };
    THEN("the swing is smaller with prediction, and fewer are admitted in vain") {
      auto present = run("early_rejection"),
           predicted = run("early_rejection_predicted");
      CHECK(present.late > 2 * predicted.late);
      CHECK(present.swing() > 1.5 * predicted.swing());
    }
  }
}

TEST_CASE("every admission has a name, and no other has one") {
  for (auto name : admission_names())
    CHECK(make_admission(name));
  CHECK_FALSE(make_admission("early"));
  CHECK_FALSE(make_admission(""));
}

} // namespace
} // namespace perigee::rejector
