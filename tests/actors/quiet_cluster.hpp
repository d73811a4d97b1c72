/// \file
/// quiet_cluster: who has the cluster's seat in tests of single nodes.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/desk.hpp"

namespace perigee::test {

/// Has the cluster's seat, and nothing to say.
class quiet_cluster {
public:
  using handle = cluster_actor;
  static constexpr const char* name = "quiet_cluster";

  quiet_cluster(handle::pointer self, const rt::world& in,
                std::string_view called = name)
    : desk_(self, in, called) {}

  virtual ~quiet_cluster() = default;

  handle::behavior_type make_behavior() {
    return {desk_.on(this, &quiet_cluster::ignore<schema::Drain>),
            desk_.on(this, &quiet_cluster::on_drained),
            desk_.on(this, &quiet_cluster::on_fenced),
            desk_.on(this, &quiet_cluster::on_reached),
            desk_.on(this, &quiet_cluster::ignore<schema::Tick>),
            desk_.on(this, &quiet_cluster::on_describe)};
  }

protected:
  virtual void on_drained(const Msg<schema::Drained>&) {}
  virtual void on_fenced(const Msg<schema::Fenced>&) {}
  virtual void on_reached(const Msg<schema::Reached>&) {}

private:
  template <class T>
  void ignore(const Msg<T>&) {}

  rt::reply<schema::Description> on_describe(const Msg<schema::Describe>& wish) {
    return desk_.write<schema::Description>(wish, [](auto) {});
  }

  rt::desk<handle> desk_;
};

} // namespace perigee::test
