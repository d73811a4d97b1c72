#include "journal/redactor.hpp"

#include "schemas/cache.capnp.h"
#include "schemas/cluster.capnp.h"
#include "schemas/forward.capnp.h"
#include "schemas/line.capnp.h"
#include "schemas/load.capnp.h"
#include "schemas/movement.capnp.h"
#include "tests/journal/scratch.hpp"

#include <algorithm>
#include <set>

namespace perigee::journal {
namespace {

template <class... Messages>
redactor redactor_of(redactor::takes what = redactor::takes::token_ids_too) {
  std::vector<capnp::StructSchema> all{
    capnp::StructSchema{capnp::Schema::from<Messages>()}...};
  return redactor{all, what};
}

template <class T, class Fill>
kj::Array<capnp::word> build(Fill fill) {
  capnp::MallocMessageBuilder built;
  fill(built.initRoot<T>());
  return capnp::messageToFlatArray(built);
}

/// Reads `words` as redacted by one who knows `T`.
template <class T, class See>
void after(const kj::Array<capnp::word>& words, See see) {
  auto before = kj::heapArray(words.asPtr());
  std::vector<capnp::word> scratch;
  auto left = redactor_of<T>().redact(capnp::typeId<T>(), view(words), scratch);
  CHECK(words.asBytes() == before.asBytes()); // what is sent is not touched
  CHECK_FALSE(find_fault<T>(left));
  capnp::FlatArrayMessageReader reader{kj::arrayPtr(left.data(), left.size())};
  see(reader.getRoot<T>());
}

TEST_CASE("what a client said is taken out of a prompt, and how much it was stays") {
  auto words = build<schema::Prompt>([](schema::Prompt::Builder all) {
    all.setRequest(9);
    all.setTokens({1, 2, 3});
    all.setFirstToken(100);
    auto bias = all.initSampling().initBiases(1)[0];
    bias.setToken(4);
    bias.setBias(0.5);
    all.getSampling().setStopTokens({5});
  });
  after<schema::Prompt>(words, [](schema::Prompt::Reader left) {
    CHECK(left.getRequest() == 9);
    CHECK(left.getFirstToken() == 100);
    REQUIRE(left.getTokens().size() == 3);
    for (auto token : left.getTokens())
      CHECK(token == 0);
    CHECK(left.getSampling().getBiases()[0].getToken() == 0);
    CHECK(left.getSampling().getBiases()[0].getBias() == 0.5);
    CHECK(left.getSampling().getStopTokens()[0] == 0);
  });
}

TEST_CASE("what a client was told is taken out, however deep it lies") {
  auto words = build<schema::Tokens>([](schema::Tokens::Builder all) {
    auto run = all.initRuns(2)[1];
    run.setRequest(9);
    run.setStopToken(3);
    auto drawn = run.initTokens(2)[1];
    drawn.setToken(8);
    drawn.setLogprob(-1);
    drawn.initTop(1)[0].setToken(7);
  });
  after<schema::Tokens>(words, [](schema::Tokens::Reader left) {
    auto run = left.getRuns()[1];
    CHECK(run.getRequest() == 9);
    CHECK(run.getStopToken() == 0);
    REQUIRE(run.getTokens().size() == 2);
    CHECK(run.getTokens()[1].getToken() == 0);
    CHECK(run.getTokens()[1].getLogprob() == -1);
    CHECK(run.getTokens()[1].getTop()[0].getToken() == 0);
  });
}

TEST_CASE(
  "a message without token ids is let through as it is, one unknown not at all") {
  auto words = build<schema::Unpin>([](auto all) { all.setLease(7); });
  std::vector<capnp::word> scratch;
  auto known = redactor_of<schema::Unpin>();
  auto left = known.redact(capnp::typeId<schema::Unpin>(), view(words), scratch);
  CHECK(left.data() == words.begin());
  CHECK(known.redact(capnp::typeId<schema::Prompt>(), view(words), scratch).empty());
}

TEST_CASE("a ticket is taken out, whatever else is kept") {
  auto words = build<schema::Dialed>([](schema::Dialed::Builder said) {
    auto to = said.initConnect();
    to.setTransport("tcp");
    auto ticket = to.initTicket(32);
    std::fill(ticket.begin(), ticket.end(), capnp::byte{7});
  });
  for (auto what : {redactor::takes::secrets, redactor::takes::token_ids_too}) {
    std::vector<capnp::word> scratch;
    auto left = redactor_of<schema::Dialed>(what).redact(
      capnp::typeId<schema::Dialed>(), view(words), scratch);
    capnp::FlatArrayMessageReader reader{kj::arrayPtr(left.data(), left.size())};
    auto to = reader.getRoot<schema::Dialed>().getConnect();
    CHECK(to.getTransport() == "tcp");
    REQUIRE(to.getTicket().size() == 32);
    for (auto byte : to.getTicket())
      CHECK(byte == 0);
  }
}

TEST_CASE("who keeps what clients say takes out secrets alone") {
  auto words = build<schema::Prompt>([](schema::Prompt::Builder all) {
    all.setTokens({1, 2});
  });
  std::vector<capnp::word> scratch;
  auto left = redactor_of<schema::Prompt>(redactor::takes::secrets)
                .redact(capnp::typeId<schema::Prompt>(), view(words), scratch);
  CHECK(left.data() == words.begin());
}

/// Fields of `type`, and of all that is in it, that hold token ids by their names.
void check_marks(capnp::StructSchema type, std::set<std::uint64_t>& seen) {
  static const std::set<std::string> words{"token",    "tokens",     "tail",     "seen",
                                           "answered", "stopTokens", "stopToken"};
  if (!seen.insert(type.getProto().getId()).second)
    return;
  for (auto field : type.getFields()) {
    auto inner = field.getType();
    while (inner.isList())
      inner = inner.asList().getElementType();
    if (inner.isStruct())
      check_marks(inner.asStruct(), seen);
    std::string name = field.getProto().getName().cStr();
    std::string owner = type.getShortDisplayName().cStr();
    bool is_marked = false;
    for (auto note : field.getProto().getAnnotations())
      is_marked = is_marked || note.getId() == 0x86ca7c00fd381747; // $tokenIds
    INFO(owner << "." << name);
    bool counts = owner == "Coming"; // how many are coming
    CHECK(is_marked == (words.contains(name) && inner.isUInt32() && !counts));
  }
}

TEST_CASE("every field that holds token ids is marked in the schemas, and no other") {
  std::set<std::uint64_t> seen;
  for (auto type : {capnp::StructSchema{capnp::Schema::from<schema::Submit>()},
                    {capnp::Schema::from<schema::Prompt>()},
                    {capnp::Schema::from<schema::PromptScores>()},
                    {capnp::Schema::from<schema::Handoff>()},
                    {capnp::Schema::from<schema::Tokens>()},
                    {capnp::Schema::from<schema::Forward>()},
                    {capnp::Schema::from<schema::Forwarded>()},
                    {capnp::Schema::from<schema::Ran>()},
                    {capnp::Schema::from<schema::Prefill>()},
                    {capnp::Schema::from<schema::Arrive>()},
                    {capnp::Schema::from<schema::Book>()}})
    check_marks(type, seen);
  CHECK(seen.size() > 20); // else this shows nothing
}

} // namespace
} // namespace perigee::journal
