#include "transport/rdma/wire.hpp"

#include "transport/rdma/bytes.hpp"

#include <algorithm>

namespace perigee::transport::rdma {

namespace {

constexpr std::uint32_t line_magic = 0x31647250; // "Prd1"
constexpr std::size_t frame_head_bytes = 5;
constexpr std::uint32_t number_max = 0xffffff; // of queue pairs and packets

// -- writing ------------------------------------------------------------------

void put(byte_writer& out, const std::vector<port_address>& ports) {
  out.put(static_cast<std::uint8_t>(ports.size()));
  for (const auto& one : ports) {
    out.put(one.gid);
    out.put(one.lid);
    out.put(one.mtu);
    out.put(one.reads_max);
  }
}

void put(byte_writer& out, say::path_life of) {
  out.put(of.path);
  out.put(of.generation);
}

void put(byte_writer& out, segment_id id) {
  out.put(static_cast<std::uint64_t>(id));
}

struct body_writer {
  byte_writer& out;

  void operator()(const say::hello& it) const {
    out.put(line_magic);
    out.put(it.shown.secret);
    put(out, it.ports);
  }
  void operator()(const say::welcome& it) const {
    out.put(line_magic);
    put(out, it.ports);
  }
  void operator()(const say::fresh& it) const {
    put(out, it.of);
    out.put(it.where.number);
    out.put(it.where.first_packet);
  }
  void operator()(const say::ready& it) const {
    put(out, it.of);
  }
  void operator()(const say::ended& it) const {
    put(out, it.of);
    out.put(static_cast<std::uint8_t>(it.by_access));
  }
  void operator()(const say::want& it) const {
    put(out, it.segment);
  }
  void operator()(const say::keys& it) const {
    put(out, it.of);
    put(out, it.segment);
    out.put(it.distance);
    out.put(it.base);
    out.put(it.piece_bytes);
    out.put(static_cast<std::uint16_t>(it.pieces.size()));
    for (auto key : it.pieces)
      out.put(key);
  }
  void operator()(const say::denied& it) const {
    put(out, it.segment);
  }
  void operator()(const say::revoked& it) const {
    put(out, it.segment);
  }
};

// -- reading: true if what was read makes sense ----------------------------------

bool get(byte_reader& in, std::vector<port_address>& ports) {
  auto count = in.get<std::uint8_t>();
  if (count == 0 || count > devices_max)
    return false;
  ports.resize(count);
  for (auto& one : ports) {
    in.get(one.gid);
    one.lid = in.get<std::uint16_t>();
    one.mtu = in.get<std::uint8_t>();
    one.reads_max = in.get<std::uint8_t>();
    if (one.mtu < IBV_MTU_256 || one.mtu > IBV_MTU_4096 || one.reads_max == 0)
      return false;
  }
  return true;
}

say::path_life get_life(byte_reader& in) {
  auto path = in.get<std::uint8_t>();
  return {path, in.get<std::uint32_t>()};
}

segment_id get_segment(byte_reader& in) {
  return segment_id{in.get<std::uint64_t>()};
}

bool get(byte_reader& in, say::hello& it) {
  bool ours = in.get<std::uint32_t>() == line_magic;
  in.get(it.shown.secret);
  return ours && get(in, it.ports);
}

bool get(byte_reader& in, say::welcome& it) {
  return in.get<std::uint32_t>() == line_magic && get(in, it.ports);
}

bool get(byte_reader& in, say::fresh& it) {
  it.of = get_life(in);
  it.where.number = in.get<std::uint32_t>();
  it.where.first_packet = in.get<std::uint32_t>();
  return it.where.number <= number_max && it.where.first_packet <= number_max;
}

bool get(byte_reader& in, say::ready& it) {
  it.of = get_life(in);
  return true;
}

bool get(byte_reader& in, say::ended& it) {
  it.of = get_life(in);
  auto by_access = in.get<std::uint8_t>();
  it.by_access = by_access == 1;
  return by_access <= 1;
}

bool get(byte_reader& in, say::keys& it) {
  it.of = get_life(in);
  it.segment = get_segment(in);
  it.distance = in.get<std::uint8_t>();
  it.base = in.get<std::uint64_t>();
  it.piece_bytes = in.get<std::uint64_t>();
  auto count = in.get<std::uint16_t>();
  if (count == 0 || count > pieces_max || it.piece_bytes == 0)
    return false;
  it.pieces.resize(count);
  for (auto& key : it.pieces)
    key = in.get<std::uint32_t>();
  return true;
}

template <class T>
  requires requires(T it) {
    it.segment;
  }
bool get(byte_reader& in, T& it) { // want, denied, revoked
  it.segment = get_segment(in);
  return true;
}

template <std::size_t Kind = 0>
std::optional<message> get_body(std::size_t kind, std::span<const std::byte> body) {
  if constexpr (Kind == std::variant_size_v<message>) {
    return std::nullopt;
  } else {
    if (kind != Kind)
      return get_body<Kind + 1>(kind, body);
    std::variant_alternative_t<Kind, message> it;
    byte_reader in{body};
    if (!get(in, it) || !in.whole())
      return std::nullopt;
    return message{std::move(it)};
  }
}

} // namespace

std::vector<std::byte> encode(const message& what) {
  byte_writer body;
  std::visit(body_writer{body}, what);
  byte_writer out;
  out.put(static_cast<std::uint32_t>(body.bytes().size()));
  out.put(static_cast<std::uint8_t>(what.index()));
  out.bytes().insert(out.bytes().end(), body.bytes().begin(), body.bytes().end());
  return std::move(out.bytes());
}

decoded decode(std::span<const std::byte> from) {
  if (from.size() < frame_head_bytes)
    return {};
  byte_reader head{from.first(frame_head_bytes)};
  auto bytes = head.get<std::uint32_t>();
  auto kind = head.get<std::uint8_t>();
  if (bytes > frame_bytes_max)
    return {.sound = false};
  if (from.size() - frame_head_bytes < bytes)
    return {};
  auto what = get_body(kind, from.subspan(frame_head_bytes, bytes));
  bool sound = what.has_value();
  return {sound, std::move(what), frame_head_bytes + bytes};
}

std::vector<std::pair<std::uint8_t, std::uint8_t>> paths_between(std::size_t connector,
                                                                 std::size_t acceptor) {
  std::vector<std::pair<std::uint8_t, std::uint8_t>> paths;
  for (std::size_t i = 0; i < std::max(connector, acceptor); ++i)
    paths.emplace_back(i % connector, i % acceptor);
  return paths;
}

} // namespace perigee::transport::rdma
