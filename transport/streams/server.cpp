#include "transport/streams/server.hpp"

#include <algorithm>

namespace perigee::transport::streams {

namespace {

parcel answer_to(const frame& what, frame_kind kind) {
  return {.head = write(frame{.kind = kind, .number = what.number})};
}

/// Of a segment with a shape, whose size is therefore a number.
std::uint64_t bytes_of(const segment& what) {
  return what.blocks * what.shape.block_bytes();
}

/// Whether all slices lie in `where`, on the side that `offset` picks.
bool lie_in(const segment& where, const frame& what, std::uint64_t slice::*offset) {
  return std::ranges::all_of(what.slices, [&](const slice& one) {
    auto total = bytes_of(where);
    return one.bytes <= total && one.*offset <= total - one.bytes;
  });
}

parts parts_of(const segment& where, const frame& what, std::uint64_t slice::*offset) {
  parts made;
  for (const auto& one : what.slices)
    made.add(where.base + one.*offset, one.bytes);
  return made;
}

/// Takes so many bytes, and nobody reads them.
sink drain(std::uint64_t bytes) {
  constexpr std::size_t bucket_bytes = std::size_t{64} << 10;
  auto bucket = std::make_shared<std::vector<std::byte>>(
    std::min<std::uint64_t>(bytes, bucket_bytes));
  sink made{.keep_alive = bucket};
  for (; bytes > 0; bytes -= std::min<std::uint64_t>(bytes, bucket->size()))
    made.payload.add(bucket->data(), std::min<std::uint64_t>(bytes, bucket->size()));
  return made;
}

} // namespace

result<sink, loss> server::serve(link& from, frame what) {
  if (from.answers_waiting() >= requests_max)
    return failure(loss::unsound); // it has asked for more than it may
  switch (what.kind) {
    case frame_kind::put: return put(from, what);
    case frame_kind::get: return get(from, what);
    default: return failure(loss::unsound);
  }
}

sink server::put(link& from, const frame& what) {
  auto to = book_.find_shown(what.to);
  if (!to || !to->base || !lie_in(*to, what, &slice::to))
    return refuse(from, what);
  return {.payload = parts_of(*to, what, &slice::to),
          .keep_alive = to->keep_alive,
          .then = [this, &from, what] {
            book_.served_write(whom_, what.slice_bytes());
            from.answer(answer_to(what, frame_kind::done));
          }};
}

sink server::get(link& from, const frame& what) {
  auto source = book_.find_shown(what.from);
  if (!source || !source->base || !lie_in(*source, what, &slice::from))
    return refuse(from, what);
  auto answer = answer_to(what, frame_kind::data);
  answer.payload = parts_of(*source, what, &slice::from);
  answer.keep_alive = source->keep_alive;
  book_.served_read(whom_, what.slice_bytes());
  from.answer(std::move(answer));
  return {};
}

sink server::refuse(link& from, const frame& what) {
  book_.refused_request(whom_);
  auto payload = what.kind == frame_kind::put ? what.slice_bytes() : 0;
  auto made = drain(payload);
  made.then = [&from, what] { from.answer(answer_to(what, frame_kind::refused)); };
  return made;
}

} // namespace perigee::transport::streams
