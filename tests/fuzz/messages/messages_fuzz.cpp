#include "schemas/assert.hpp"
#include "schemas/cache.capnp.h"
#include "schemas/cluster.capnp.h"
#include "schemas/fault.hpp"
#include "schemas/forward.capnp.h"
#include "schemas/line.capnp.h"
#include "schemas/load.capnp.h"
#include "schemas/movement.capnp.h"
#include "schemas/node.capnp.h"
#include "schemas/request.capnp.h"
#include "tests/fuzz/messages/whole.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Bytes from another node are refused for a reason, or are a message of which every
// field can be read, and which can be sent on. The first byte says of which type: its
// place among the messages of golden/v4.txt, whose seeds make_seeds.py writes.

namespace {

using namespace perigee;

struct message_type {
  capnp::StructSchema schema;
  std::unique_ptr<const judge> judged_by;
};

template <class... Messages>
std::vector<capnp::StructSchema> schemas_of() {
  return {capnp::StructSchema{capnp::Schema::from<Messages>()}...};
}

/// actors/interfaces.hpp has the same list, but cannot be had without CAF.
std::vector<capnp::StructSchema> all_schemas() {
  return schemas_of<
    schema::Submit, schema::Withdraw, schema::Arrive, schema::Place, schema::Placed,
    schema::Expect, schema::Prefill, schema::Prompt, schema::PromptScores, schema::Room,
    schema::Roomed, schema::Handoff, schema::HandedOff, schema::Landed, schema::Tokens,
    schema::Cancel, schema::Cancelled, schema::Forward, schema::Forwarded, schema::Ran,
    schema::Interrupt, schema::Fetch, schema::Push, schema::Moved, schema::Abort,
    schema::Quiesce, schema::Quiesced, schema::Done, schema::Flow, schema::Flowed,
    schema::StopFlow, schema::Pin, schema::Pinned, schema::Unpin, schema::Reserve,
    schema::Reserved, schema::Seal, schema::Release, schema::Stored, schema::Evicted,
    schema::Withhold, schema::Recount, schema::Snapshot, schema::PrefillLoad,
    schema::DecodeLoad, schema::Book, schema::Member, schema::Drain, schema::Drained,
    schema::Describe, schema::Description, schema::Due, schema::Tick, schema::Fence,
    schema::Fenced, schema::Dial, schema::Dialed, schema::Shown, schema::LineChanged,
    schema::Apart, schema::Reached, schema::Hello, schema::Welcome, schema::Prove,
    schema::Met, schema::Join, schema::Leave, schema::Found, schema::Parting,
    schema::Lost>();
}

/// In the order of the golden file, which the seeds keep to.
std::vector<message_type> read_types() {
  std::ifstream golden{PERIGEE_SOURCE_DIR "/tests/schemas/golden/v4.txt"};
  auto known = all_schemas();
  std::vector<message_type> types;
  for (std::string line; std::getline(golden, line);) {
    if (!line.starts_with("message "))
      continue;
    auto name = line.substr(8, line.find(' ', 8) - 8);
    auto found = std::ranges::find_if(
      known, [&](auto one) { return one.getShortDisplayName() == name.c_str(); });
    PERIGEE_ASSERT(found != known.end(), "a message that is not fed here");
    types.push_back({*found, std::make_unique<judge>(*found)});
  }
  PERIGEE_ASSERT(types.size() == known.size(), "a message without a seed");
  return types;
}

const message_type& type_of(std::uint8_t choice) {
  static const auto types = read_types();
  return types[choice % types.size()];
}

/// A role hands parts of what it hears to others.
void send_on(const message_type& type, const capnp::DynamicStruct::Reader& heard) {
  capnp::MallocMessageBuilder next;
  next.setRoot(heard);
  auto words = capnp::messageToFlatArray(next);
  PERIGEE_ASSERT(!type.judged_by->find_fault({words.begin(), words.size()}),
                 "what was accepted here is refused elsewhere");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const auto& type = type_of(data[0]);
  auto words = to_words(std::as_bytes(std::span{data + 1, size - 1}));
  if (!words)
    return 0;
  if (auto fault = type.judged_by->find_fault({words->begin(), words->size()})) {
    PERIGEE_ASSERT(!fault->empty(), "refused without a reason");
    return 0;
  }
  // As Msg reads it: without a limit on how often.
  capnp::FlatArrayMessageReader message{*words, {~std::uint64_t{0}, 4 * nesting_max}};
  auto heard = message.getRoot<capnp::DynamicStruct>(type.schema);
  for (int twice = 0; twice < 2; ++twice)
    test::read_whole(heard);
  send_on(type, heard);
  return 0;
}
