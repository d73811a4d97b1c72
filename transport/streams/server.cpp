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

/// Whether all slices lie in the first `total` bytes, on the side that `offset` picks.
bool lie_in(std::uint64_t total, const frame& what, std::uint64_t slice::*offset) {
  return std::ranges::all_of(what.slices, [&](const slice& one) {
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
    case frame_kind::copy:
      if (views_.by())
        return copy(from, what);
      break;
    case frame_kind::ask:
      if (views_.by())
        return ask(from, what);
      break;
    case frame_kind::show: return show(from, what);
    default: break;
  }
  return failure(loss::unsound);
}

sink server::put(link& from, const frame& what) {
  auto to = book_.find_shown(what.to);
  if (!to || !to->base || !lie_in(bytes_of(*to), what, &slice::to))
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
  if (!source || !source->base || !lie_in(bytes_of(*source), what, &slice::from))
    return refuse(from, what);
  auto answer = answer_to(what, frame_kind::data);
  answer.payload = parts_of(*source, what, &slice::from);
  answer.keep_alive = source->keep_alive;
  book_.served_read(whom_, what.slice_bytes());
  from.answer(std::move(answer));
  return {};
}

sink server::copy(link& from, const frame& what) {
  auto to = book_.find_shown(what.to);
  const auto* source = views_.find(what.from);
  if (!to || !to->base || !source || !lie_in(bytes_of(*to), what, &slice::to)
      || !lie_in(source->bytes, what, &slice::from))
    return refuse(from, what);
  for (const auto& one : what.slices)
    views_.by()->copy(to->base + one.to, source->begin.get() + one.from, one.bytes);
  book_.served_write(whom_, what.slice_bytes());
  from.answer(answer_to(what, frame_kind::done));
  copied_bytes_ += what.slice_bytes();
  if (copied_bytes_ >= answered_bytes) {
    copied_bytes_ = 0;
    from.flush();
  }
  return {};
}

sink server::ask(link& from, const frame& what) {
  auto wanted = book_.find_shown(what.from);
  auto place = wanted ? views_.by()->find(*wanted) : std::nullopt;
  if (!place)
    return refuse(from, what);
  from.answer(showing(*wanted, *place, what.number));
  return {};
}

/// Of what it will ask to have copied.
result<sink, loss> server::show(link& from, const frame& what) {
  auto shown = from.take_file();
  const auto& where = what.slices.front();
  if (!shown || !views_.add(what.from, *shown, where.from, where.bytes))
    return failure(loss::unsound);
  return sink{};
}

parcel showing(const segment& what, const shared_memory::place& where,
               std::uint64_t number) {
  return {.head = write(frame{.kind = frame_kind::show,
                              .number = number,
                              .from = what.id,
                              .slices = {{where.offset, 0, bytes_of(what)}}}),
          .passed = where.where};
}

sink server::refuse(link& from, const frame& what) {
  book_.refused_request(whom_);
  auto payload = what.kind == frame_kind::put ? what.slice_bytes() : 0;
  auto made = drain(payload);
  made.then = [&from, what] { from.answer(answer_to(what, frame_kind::refused)); };
  return made;
}

} // namespace perigee::transport::streams
