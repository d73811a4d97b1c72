#include "actors/transfer/lines.hpp"
#include "actors/transfer/opaque_words.hpp"
#include "schemas/convert.hpp"

#include <spdlog/logger.h>

namespace perigee::transfer {
namespace {

constexpr std::size_t shown_max = 1024; // of one message

} // namespace

/// What the other side has not seen yet.
void lines::show(transport::peer_id which) {
  auto& one = lines_.at(which);
  if (one.now != state::up)
    return;
  std::vector<std::pair<transport::segment, transport::descriptor>> fresh;
  for (auto id : segments_->ids()) {
    auto segment = segments_->find(id);
    if (!segment || fresh.size() == shown_max || !one.shown.insert(id).second)
      continue;
    if (auto described = by(one).describe(id))
      fresh.emplace_back(*segment, std::move(*described));
  }
  desk_.tell<schema::Shown>(
    transfer_name{one.node, 0}, rt::unprompted, [&](schema::Shown::Builder news) {
      set_name(news.initMover(), desk_.me());
      news.setNumber(one.number);
      auto all = news.initSegments(static_cast<unsigned>(fresh.size()));
      for (unsigned i = 0; i < all.size(); ++i) {
        const auto& [segment, described] = fresh[i];
        all[i].setId(static_cast<std::uint64_t>(segment.id));
        all[i].setLayerBytes(segment.shape.layer_bytes);
        all[i].setLayers(segment.shape.layers);
        all[i].setBlocks(segment.blocks);
        all[i].setDescriptor(data_of(described));
      }
    });
}

void lines::on_shown(const Msg<schema::Shown>& said) {
  auto who = to_name<transfer_name>(said->getMover());
  auto at = contacts_.find(who.node);
  if (!desk_.is_from(who, said) || at == contacts_.end() || !at->second.current
      || at->second.number != said->getNumber())
    return probe_->dropped_stale();
  for (auto one : said->getSegments())
    learn(*at->second.current, one);
  told_.more();
}

void lines::learn(transport::peer_id which, schema::Shown::Segment::Reader one) {
  const auto& over = lines_.at(which);
  transport::segment_id id{one.getId()};
  transport::segment shape{
    id, nullptr, {one.getLayerBytes(), one.getLayers()}, one.getBlocks(), {}, 0};
  if (!transport::has_shape(shape) || segments_->find(id)
      || !by(over).learn(which, bytes_of(one.getDescriptor()))) {
    probe_->refused_segment();
    return log_->warn("segment_refused node={} transport={}", name_of(over.node),
                      all_.ways[over.way].name);
  }
  far_[id] = {over.node, which, over.way, shape.shape, shape.blocks};
}

} // namespace perigee::transfer
