#include "actors/transfer/fabric.hpp"

#include "actors/runtime/desk.hpp"
#include "schemas/convert.hpp"
#include "transport/modelled/flow_table.hpp"
#include "transport/modelled/link_faults.hpp"

#include <map>
#include <set>

namespace perigee::transfer {
namespace {

using std::chrono::nanoseconds;

class fabric_state {
public:
  using handle = fabric_actor;
  static constexpr const char* name = "fabric";

  fabric_state(handle::pointer self, const rt::world& in, fabric_options how,
               std::shared_ptr<fabric_probe> counts)
    : self_(self), desk_(self, in, name), network_(std::move(how.network)),
      flows_max_(how.flows_max), probe_(std::move(counts)),
      flows_(network_.capacities()), faults_(network_.capacities(), network_.faults()) {
  }

  handle::behavior_type make_behavior() {
    watch();
    return {
      desk_.on(this, &fabric_state::on_flow),
      desk_.on(this, &fabric_state::on_stop_flow),
      desk_.on(this, &fabric_state::on_member),
      desk_.on(this, &fabric_state::on_due),
    };
  }

private:
  using flow_id = transport::flow_table::flow_id;
  using flow_key = std::pair<rt::actor_tag, std::uint64_t>; // sender, its number

  struct flow {
    transfer_name mover;
    flow_key key;
    rt::cause why;
    std::uint64_t bytes;
    nanoseconds latency;
    std::optional<nanoseconds> arrives{}; // once all has set off
    std::vector<nanoseconds> part_ages{}; // when it arrives
  };

  template <class T>
  std::optional<flow_key> key_of(const Msg<T>& heard) {
    if (desk_.is_from(to_name<transfer_name>(heard->getMover()), heard))
      return flow_key{rt::actor_tag{heard->getHeader().getSender()},
                      heard->getNumber()};
    probe_->dropped_stale();
    return std::nullopt;
  }

  void on_flow(const Msg<schema::Flow>& wish) {
    auto key = key_of(wish);
    if (!key)
      return;
    bool is_sound = wish->getFromNode() < network_.hosts()
                    && wish->getToNode() < network_.hosts() && !by_key_.contains(*key);
    if (!is_sound)
      return probe_->dropped_stale();
    auto mover = to_name<transfer_name>(wish->getMover());
    if (open_.size() >= flows_max_) {
      probe_->refused();
      return answer(mover, wish, wish->getNumber(),
                    [](auto said) { said.setBusy(true); });
    }
    auto way = network_.between(wish->getFromNode(), wish->getToNode());
    auto mine = ++flows_total_;
    open_.emplace(mine, flow{mover, *key, wish, wish->getBytes(), way.latency});
    by_key_.emplace(*key, mine);
    take_ended();
    flows_.begin(mine, wish->getBytes(), std::move(way.links), desk_.now(),
                 wish->getParts());
    probe_->began(open_.size());
    watch();
  }

  template <class Fill>
  void answer(const transfer_name& mover, const rt::cause& why, std::uint64_t number,
              Fill fill) {
    desk_.tell<schema::Flowed>(mover, why, [&](schema::Flowed::Builder said) {
      said.setNumber(number);
      fill(said);
    });
  }

  void on_stop_flow(const Msg<schema::StopFlow>& wish) {
    auto key = key_of(wish);
    if (!key)
      return;
    if (auto at = by_key_.find(*key); at != by_key_.end()) // else it has arrived
      stop(at->second);
    watch();
  }

  void stop(flow_id mine) {
    take_ended();
    flows_.cancel(mine, desk_.now());
    auto one = open_.extract(mine);
    if (one.mapped().arrives)
      arrivals_.erase({*one.mapped().arrives, mine});
    by_key_.erase(one.mapped().key);
    probe_->stopped(open_.size());
  }

  void on_member(const Msg<schema::Member>& news) {
    if (!desk_.is_from(cluster_name{desk_.me().node, 0}, news))
      return probe_->dropped_stale();
    if (news->getUp())
      return;
    const rt::actor_tag gone{news->getTag()};
    for (auto at = by_key_.lower_bound({gone, 0});
         at != by_key_.end() && at->first.first == gone;
         at = by_key_.lower_bound({gone, 0}))
      stop(at->second);
    watch();
  }

  // -- time -------------------------------------------------------------------

  /// What has set off wholly by now arrives after its latency.
  void take_ended() {
    while (auto due = flows_.next_end()) {
      if (*due > desk_.now())
        return;
      for (auto mine : flows_.take_ended(*due)) {
        auto& one = open_.at(mine);
        one.arrives = *due + one.latency;
        one.part_ages = flows_.take_parts(mine);
        for (auto& part : one.part_ages)
          part = *due - part;
        arrivals_.emplace(*one.arrives, mine);
      }
    }
  }

  void arrive(flow_id mine) {
    auto one = std::move(open_.extract(mine).mapped());
    by_key_.erase(one.key);
    probe_->arrived(one.bytes, open_.size());
    answer(one.mover, one.why, one.key.second, [&](schema::Flowed::Builder said) {
      auto ages = said.initPartAgesNs(static_cast<unsigned>(one.part_ages.size()));
      for (unsigned i = 0; i < ages.size(); ++i)
        ages.set(i, static_cast<std::uint64_t>(one.part_ages[i].count()));
    });
  }

  /// Tells who has waited long enough, and sets a timer for the next, unless one is set
  /// that is early enough.
  void watch() {
    take_ended();
    for (auto [link, bytes_per_s] : faults_.take_changes(desk_.now()))
      flows_.set_capacity(link, bytes_per_s, desk_.now());
    while (!arrivals_.empty() && arrivals_.begin()->first <= desk_.now())
      arrive(arrivals_.extract(arrivals_.begin()).value().second);
    auto next = flows_.next_end();
    if (!arrivals_.empty() && (!next || arrivals_.begin()->first < *next))
      next = arrivals_.begin()->first;
    if (auto change = faults_.next_after(desk_.now());
        change && (!next || change < next))
      next = change;
    if (!next || (timer_ && *timer_ <= *next))
      return;
    timer_ = next;
    ++epoch_;
    desk_.tell_after<schema::Due>(handle{self_}, *next - desk_.now(), rt::unprompted,
                                  [&](auto timer) { timer.setEpoch(epoch_); });
  }

  void on_due(const Msg<schema::Due>& timer) {
    if (timer->getEpoch() != epoch_)
      return; // replaced by an earlier one, which has been here
    timer_.reset();
    watch();
  }

  handle::pointer self_;
  rt::desk<handle> desk_;
  transport::network network_;
  const std::size_t flows_max_;
  std::shared_ptr<fabric_probe> probe_;
  transport::flow_table flows_;
  transport::link_faults faults_;
  std::map<flow_id, flow> open_;
  std::map<flow_key, flow_id> by_key_;
  std::set<std::pair<nanoseconds, flow_id>> arrivals_;
  std::optional<nanoseconds> timer_; // when it is due, if one is set
  std::uint64_t epoch_ = 0;
  flow_id flows_total_ = 0;
};

} // namespace

std::string to_string(const fabric_options& how) {
  auto text = [](const char* key, auto value) {
    return std::string{key} + '=' + std::to_string(value);
  };
  const auto& plan = how.network;
  return text("hosts", plan.ports.size())
         + text(" core_bytes_per_s", static_cast<std::uint64_t>(plan.core_bytes_per_s))
         + text(" latency_ns", plan.latency.count())
         + text(" cables", plan.cables.size()) + text(" faults", plan.faults.size())
         + text(" flows_max", how.flows_max);
}

fabric_actor start_fabric(const rt::world& in, rt::place where, fabric_options how,
                          std::shared_ptr<fabric_probe> counts) {
  auto as_text = rt::arguments{to_string(how)};
  return rt::spawn<fabric_state>(in, where, std::move(as_text), std::move(how),
                                 std::move(counts));
}

} // namespace perigee::transfer
