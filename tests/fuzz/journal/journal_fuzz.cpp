#include "journal/format.hpp"
#include "journal/segment_reader.hpp"
#include "schemas/assert.hpp"
#include "schemas/request.capnp.h"

#include <xxhash.h>

#include <cstdint>
#include <sstream>
#include <string>

// A segment of a journal is read to its end, or to a complaint that names a place. The
// first byte says what the others are: 's' a whole segment, of which a checksum lets
// little through; 'p' the payload of a frame, which is given one that is right.

namespace {

using namespace perigee;
using namespace perigee::journal;

std::string segment_with(bytes_view payload) {
  bytes all;
  byte_writer out{all};
  out.raw(std::as_bytes(std::span{magic}));
  out.fixed32(version);
  out.fixed32(0);
  out.fixed32(static_cast<std::uint32_t>(payload.size()));
  out.fixed32(0);
  out.fixed64(XXH3_64bits_withSeed(payload.data(), payload.size(), segment_head_bytes));
  out.raw(payload);
  return {reinterpret_cast<const char*>(all.data()), all.size()};
}

/// Whoever reads fields judges words first: they may be anything.
void judge(const message& what) {
  PERIGEE_ASSERT(what.words.size() <= message_words_max,
                 "more words than a message has");
  if (auto fault = find_fault<schema::Prompt>(what.words))
    PERIGEE_ASSERT(!fault->empty(), "refused without a reason");
}

void see(const record& one) {
  if (const auto* sent = std::get_if<sending>(&one))
    judge(sent->what);
  else if (const auto* taken = std::get_if<taking>(&one))
    judge(taken->what);
  else if (const auto* who = std::get_if<introduction>(&one))
    PERIGEE_ASSERT(who->name.size() <= text_bytes_max, "a longer name than may be");
}

void read(const std::string& segment) {
  std::istringstream in{segment};
  segment_reader reader{in, "fuzz"};
  for (bool is_first = true;; is_first = false) {
    auto got = reader.next();
    if (!got) {
      PERIGEE_ASSERT(!got.error().what.empty(), "a complaint without words");
      PERIGEE_ASSERT(got.error().offset <= segment.size(), "a place that is not there");
      PERIGEE_ASSERT(reader.next() && !*reader.next(), "more after a complaint");
      return;
    }
    if (!*got)
      return;
    PERIGEE_ASSERT(std::holds_alternative<opening>(**got) == is_first,
                   "a segment begins with its opening");
    see(**got);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  std::span rest{data + 1, size - 1};
  if (data[0] == 'p')
    read(segment_with(std::as_bytes(rest)));
  else
    read({rest.begin(), rest.end()});
  return 0;
}
