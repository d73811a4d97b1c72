#include "actors/engine_host/sequence_table.hpp"

#include "tests/actors/engine_host/forwards.hpp"

#include <catch2/catch.hpp>

namespace perigee::engine_host {
namespace {

struct fixture {
  fixture() {
    table.apply(
      *forward{.begins = {1}, .parts = {{.fed = {5}, .blocks = {0, 1}}}}.message());
  }

  std::string fault_of(const forward& wish) const {
    return table.find_fault(*wish.message()).value_or("none");
  }

  std::shared_ptr<engine::engine> runs = engine::make_modelled_engine(small_model());
  sequence_table table{limits_of(*runs, 3)};
};

TEST_CASE_METHOD(fixture, "a sound Forward has no fault") {
  CHECK(fault_of({}) == "none");
  CHECK(fault_of({.parts = {{.first_position = 1, .fed = {6, 7}}}}) == "none");
  CHECK(fault_of({.ends = {1}, .begins = {1, 2}}) == "none");
  CHECK(fault_of({.begins = {2}, .parts = {{.sequence = 2, .fed = {6}, .blocks = {9}}}})
        == "none");
}

TEST_CASE_METHOD(fixture, "sequences begin and end once") {
  CHECK(fault_of({.ends = {2}}) == "ends a sequence that is not here");
  CHECK(fault_of({.ends = {1, 1}}) == "ends a sequence that is not here");
  CHECK(fault_of({.begins = {1}}) == "begins a sequence that is here");
  CHECK(fault_of({.begins = {2, 2}}) == "begins a sequence that is here");
  CHECK(fault_of({.begins = {2, 3, 4}}) == "more sequences than 3");
}

TEST_CASE_METHOD(fixture, "work is for sequences that are here, once each") {
  CHECK(fault_of({.parts = {{.sequence = 2, .fed = {6}}}})
        == "work for a sequence that is not here");
  CHECK(fault_of({.ends = {1}, .parts = {{.fed = {6}}}})
        == "work for a sequence that is not here");
  CHECK(fault_of({.parts = {{.fed = {6}}, {.fed = {6}}}})
        == "work for a sequence twice");
  CHECK(fault_of({.parts = {{.fed = {}}}}) == "work without a token");
}

TEST_CASE_METHOD(fixture, "tokens, positions and blocks have their ranges") {
  CHECK(fault_of({.parts = {{.fed = {1000}}}}) == "a token outside the vocabulary");
  CHECK(fault_of({.begins = {2}, .seen = 1000}) == "a token outside the vocabulary");
  CHECK(fault_of({.parts = {{.first_position = 64, .fed = {6}}}})
        == "a position outside the context");
  CHECK(fault_of({.parts = {{.first_position = 8, .fed = {6}}}})
        == "a block table that is too short");
  CHECK(fault_of({.parts = {{.fed = {6}, .blocks = {32}}}})
        == "a block outside the arena");
  CHECK(fault_of({.parts = {{.fed = {6}, .blocks = {3}, .first_block = 3}}})
        == "a block table with a hole");
  CHECK(fault_of({.parts = {{.fed = {6}, .blocks = {3}, .first_block = 0}}}) == "none");
  CHECK(fault_of({.parts = {{.fed = tokens(33, 6), .blocks = tokens(9, 3)}}})
        == "more tokens than 32");
}

TEST_CASE_METHOD(fixture, "a table covers all that a run may feed") {
  work last{.first_position = 7, .fed = {6}, .steps = 100};
  CHECK(fault_of({.steps_max = 1, .parts = {last}}) == "none");
  CHECK(fault_of({.steps_max = 2, .parts = {last}})
        == "a block table that is too short");
  last.steps = 1;
  CHECK(fault_of({.steps_max = 2, .parts = {last}}) == "none");
}

TEST_CASE_METHOD(fixture, "a run has steps, and drawing has sound parameters") {
  CHECK(fault_of({.steps_max = 0}) == "no step");
  CHECK(fault_of({.begins = {2}, .temperature = -1}).find("temperature") == 10);
}

TEST_CASE_METHOD(fixture, "scores need the logits of the token before") {
  CHECK(fault_of({.parts = {{.fed = {6}, .scores = 0}}}) == "none");
  CHECK(fault_of({.parts = {{.first_position = 1, .fed = {6}, .scores = 0}}})
        == "scores without the logits before them");
}

TEST_CASE_METHOD(fixture, "a table is replaced from an entry on") {
  table.apply(
    *forward{.parts = {{.fed = {6}, .blocks = {7, 8}, .first_block = 1}}}.message());
  CHECK(table.at(1).blocks == tokens{0, 7, 8});
  table.apply(*forward{.ends = {1}}.message());
  CHECK(table.size() == 0);
}

} // namespace
} // namespace perigee::engine_host
