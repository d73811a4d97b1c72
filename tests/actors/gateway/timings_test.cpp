#include "actors/gateway/timings.hpp"

#include <catch2/catch.hpp>

namespace perigee::gateway {

using namespace std::chrono_literals;

TEST_CASE("transit is what the other stages lack, so the sum is the whole") {
  timings times;
  times[stage::parse] = 1ns;
  times[stage::decode] = 2ms;
  times[stage::transit] = 77s; // from before
  times.close(3ms);
  CHECK(times[stage::transit] == 1ms - 1ns);
  CHECK(times.total() == 3ms);
  times.close(1ms);
  CHECK(times[stage::transit] == -1ms - 1ns);
  CHECK(times.total() == 1ms);
}

TEST_CASE("the first token's way out hides what the decode instance does meanwhile") {
  timings times;
  times[stage::transfer] = 1ms;
  times[stage::decode_queue] = 2ms;
  times[stage::decode] = 10ms;
  times.set_flush(4ms);
  CHECK(times[stage::flush] == 4ms);
  CHECK(times[stage::transfer] == 0ms);
  CHECK(times[stage::decode_queue] == 0ms);
  CHECK(times[stage::decode] == 9ms);
  CHECK(times.total() == 13ms); // as before
  timings alone;                // an answer of one token
  alone.set_flush(4ms);
  CHECK(alone.total() == 4ms);
}

TEST_CASE("times are written to the nanosecond") {
  timings times;
  times[stage::parse] = 1ns;
  times[stage::tokenize] = 1500us;
  times[stage::queue] = 2s;
  times.ttft = 2'001'500'001ns;
  times.close(2s);
  CHECK(
    to_json(times)
    == R"({"parse_ms":0.000001,"tokenize_ms":1.5,"admission_ms":0,"placement_ms":0,)"
       R"("queue_ms":2000,"fetch_ms":0,"prefill_ms":0,"handoff_ms":0,"flush_ms":0,)"
       R"("transfer_ms":0,"decode_queue_ms":0,"decode_ms":0,"transit_ms":-1.500001,)"
       R"("ttft_ms":2001.500001,"total_ms":2000})");
}

} // namespace perigee::gateway
