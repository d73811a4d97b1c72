#include "workload/likeness.hpp"

namespace perigee::workload {
namespace {

using namespace std::chrono_literals;

// What stands here is of three kinds. *Published* is what the FAST'25 paper and the
// technical report print, or what their released files hold (rows, rates, quantiles).
// *Fitted* is what no figure says directly, set so that a published hit rate or mean
// comes out. *Assumed* is the rest. The README has the table of what comes out.

likeness conversation() {
  return {
    .name = "conversation",
    .what = "people chatting, in turns, under one system prompt (FAST'25 conversation "
            "trace)",
    .rate = 12'031 / 3'537.0, // published
    .tick = 3s,               // published
    .input{{{0, 891},
            {0.01, 894},
            {0.1, 964},
            {0.25, 2'306},
            {0.5, 6'909},
            {0.75, 15'368},
            {0.9, 27'367},
            {0.95, 39'552},
            {0.99, 85'401},
            {1, 126'195}}, // published
           way::geometric},
    .output{{{0, 1},
             {0.1, 24},
             {0.25, 156},
             {0.5, 350},
             {0.75, 472},
             {0.9, 597},
             {0.95, 698},
             {0.99, 1'120},
             {1, 2'000}}}, // published
    .starts{{512, 1.0}},   // published: block 0 in every request
    .follows{
      .probability{{1'000, 0.02}, {2'300, 0.53}}, // fitted, after the released file
      .followed_share = 0.35,                     // fitted
      .kept{{{0, 0.3}, {0.3, 0.6}, {0.6, 0.8}, {1, 0.98}}}, // fitted
      .gap_median = 123s,                                   // the released file's
      .gap_sigma = 1.0,                                     // the released file's
      .followers_max = 1,                                   // assumed
    },
  };
}

likeness toolagent() {
  return {
    .name = "toolagent",
    .what = "programs calling tools, most under one of two long prompts (FAST'25 "
            "tool&agent trace)",
    .rate = 23'608 / 3'537.0, // published
    .tick = 3s,               // published
    .input{{{0, 885},
            {0.289, 4'001},
            {0.5, 6'346},
            {0.6993, 7'116},
            {0.8251, 10'232},
            {0.8642, 13'348},
            {0.8974, 16'464},
            {0.9216, 19'583},
            {0.9367, 22'698},
            {0.9492, 25'814},
            {0.9596, 28'930},
            {0.968, 32'046},
            {0.9739, 35'161},
            {0.9765, 38'277},
            {0.9799, 41'393},
            {0.99, 61'525},
            {1, 125'000}}, // published: the report's figure 5, P50 and P99
           way::geometric},
    .output{{{0, 1},
             {0.5, 30},
             {0.5657, 51},
             {0.5918, 101},
             {0.6147, 151},
             {0.6368, 201},
             {0.6659, 251},
             {0.7013, 301},
             {0.7458, 351},
             {0.7979, 401},
             {0.8507, 451},
             {0.8953, 501},
             {0.9286, 551},
             {0.9506, 601},
             {0.965, 651},
             {0.994, 820}, // fitted, to the mean
             {0.998, 1'950},
             {1, 2'000}}}, // published: figure 5
    // Published: two blocks are in 10,938 and 9,203 of 23,608 requests, and the ten
    // hottest have 22.9 % of all references: one start of nine blocks, one of one.
    .starts{{4'608, 0.603}, {512, 0.765}},
    .follows{
      .probability{{1'000, 0.25}, {8'000, 0.67}, {20'000, 0.75}}, // fitted
      .followed_share = 0.15,                                     // fitted
      .kept{{{0, 0.4}, {0.5, 0.8}, {1, 0.98}}},                   // fitted
      .gap_median = 60s,                                          // assumed
      .gap_sigma = 1.0,                                           // assumed
      .followers_max = 1,                                         // assumed
    },
  };
}

likeness synthetic() {
  return {
    .name = "synthetic",
    .what = "questions about long texts, and short chats between them (FAST'25 "
            "synthetic trace)",
    .rate = 3.907, // published
    .tick = 0ms,   // published: arrivals are continuous
    .input{{{0, 13},
            {0.01, 16},
            {0.25, 277},
            {0.5, 11'587},
            {0.75, 23'175},
            {0.9, 38'615},
            {0.95, 49'009},
            {0.99, 66'458},
            {1, 191'378}}, // published
           way::geometric},
    .output{{{0, 1},
             {0.1, 4},
             {0.5, 69},
             {0.75, 240}, // fitted, to the mean
             {0.9, 389},
             {0.99, 769},
             {1, 893}}, // published
            way::geometric},
    .starts{},
    .follows{
      .probability{{500, 0.0}, {1'500, 0.69}, {20'000, 0.7}}, // fitted
      .followed_share = 0.55,                                 // fitted
      .kept{{{0, 0.9}, {0.5, 0.98}, {1, 0.999}}},             // fitted
      .gap_median = 60s,                                      // assumed
      .gap_sigma = 1.0,                                       // assumed
      .followers_max = 23, // published: no block has more than 24 references
    },
  };
}

} // namespace

const std::vector<likeness>& likenesses() {
  static const std::vector<likeness> all{conversation(), toolagent(), synthetic()};
  return all;
}

const likeness* find_likeness(std::string_view name) {
  for (const auto& one : likenesses())
    if (one.name == name)
      return &one;
  return nullptr;
}

} // namespace perigee::workload
