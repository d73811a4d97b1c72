#include "actors/rejector/rejector.hpp"

#include "actors/conductor/words.hpp"
#include "actors/runtime/desk.hpp"
#include "actors/span_of.hpp"
#include "schemas/assert.hpp"
#include "schemas/convert.hpp"

#include <optional>

namespace perigee::rejector {
namespace {

using conductor::reason;
using conductor::refusal;

/// To be asked again when the conductor's successor is there.
constexpr nanoseconds soon = std::chrono::seconds{1};

class rejector_state {
public:
  using handle = rejector_actor;
  static constexpr const char* name = "rejector";

  rejector_state(handle::pointer self, const rt::world& in, options how,
                 std::shared_ptr<probe> counts)
    : desk_(self, in, name), how_(how), policy_(make_admission(how.admission)),
      probe_(std::move(counts)) {
    PERIGEE_ASSERT(policy_, "an admission that there is");
  }

  handle::behavior_type make_behavior() {
    return {
      desk_.on(this, &rejector_state::on_arrive),
      desk_.on(this, &rejector_state::on_cancel),
      desk_.on(this, &rejector_state::on_book),
      desk_.on(this, &rejector_state::on_member),
      desk_.on(this, &rejector_state::on_due),
    };
  }

private:
  void on_arrive(const Msg<schema::Arrive>& asked) {
    auto wanted = asked->getWish();
    if (!is_current(asked, to_name<gateway_name>(wanted.getGateway())))
      return;
    probe_->arrived();
    if (auto why = judge(wanted))
      return refuse(asked, *why);
    bool there = desk_.tell<schema::Place>(
      conductor(), asked, [&](schema::Place::Builder pass) { pass.setWish(wanted); });
    if (!there)
      refuse(asked, {reason::no_instance, 0, soon});
  }

  std::optional<refusal> judge(schema::Wish::Reader wanted) const {
    if (!loads_ || loads_->prefills.empty() || loads_->decodes.empty())
      return std::nullopt; // the conductor knows more, and sooner
    auto or_ours = [](std::uint64_t theirs, nanoseconds ours) {
      return theirs > 0 ? span_of(theirs) : ours;
    };
    conductor::wish one{.prompt_tokens = wanted.getPromptTokens(),
                        .decodes = wanted.getTokensMax() > 1,
                        .ttft_limit = or_ours(wanted.getTtftLimitNs(), how_.ttft_limit),
                        .tbt_limit = or_ours(wanted.getTbtLimitNs(), how_.tbt_limit)};
    return policy_->judge(one, {desk_.now(), *loads_, how_.cost, how_.load_max});
  }

  void refuse(const Msg<schema::Arrive>& asked, const refusal& why) {
    probe_->refused(why.why);
    auto wanted = asked->getWish();
    desk_.tell<schema::Placed>(to_name<gateway_name>(wanted.getGateway()), asked,
                               [&](schema::Placed::Builder said) {
                                 said.setRequest(wanted.getRequest());
                                 conductor::set_refusal(said.initRefused(), why);
                               });
  }

  /// Nothing is held here: the conductor answers, or we do if there is none.
  void on_cancel(const Msg<schema::Cancel>& wish) {
    bool there = desk_.tell<schema::Cancel>(conductor(), wish,
                                            [&](schema::Cancel::Builder pass) {
                                              pass.setRequest(wish->getRequest());
                                              pass.setGateway(wish->getGateway());
                                            });
    if (there)
      return;
    desk_.tell<schema::Cancelled>(to_name<gateway_name>(wish->getGateway()), wish,
                                  [&](schema::Cancelled::Builder said) {
                                    said.setRequest(wish->getRequest());
                                    said.setBy(schema::Role::REJECTOR);
                                  });
  }

  void on_book(const Msg<schema::Book>& copy) {
    if (!is_current(copy, conductor()))
      return;
    auto now = desk_.now();
    loads_ = conductor::to_loads(*copy, now);
    probe_->sees(
      conductor::prefill_load(*loads_, now, how_.ttft_limit),
      conductor::decode_load(*loads_, how_.cost.decode, now, now, how_.tbt_limit));
  }

  /// A conductor's successor begins with another book.
  void on_member(const Msg<schema::Member>& news) {
    if (news->getRole() == schema::Role::CONDUCTOR && !news->getUp())
      loads_.reset();
  }

  /// Nobody sets one.
  void on_due(const Msg<schema::Due>&) {
    probe_->dropped_stale();
  }

  /// The one beside us.
  conductor_name conductor() const {
    return {desk_.me().node, 0};
  }

  /// Whether `heard` is from whoever is under `whom` now. Else it is to be dropped.
  template <class T, class Handle>
  bool is_current(const Msg<T>& heard, const rt::name<Handle>& whom) {
    bool current = desk_.is_from(whom, heard);
    if (!current)
      probe_->dropped_stale();
    return current;
  }

  rt::desk<handle> desk_;
  options how_;
  std::unique_ptr<admission_policy> policy_;
  std::shared_ptr<probe> probe_;
  std::optional<conductor::loads> loads_; // by the last book
};

} // namespace

std::string to_string(const options& how) {
  return "admission=" + how.admission + " load_max=" + std::to_string(how.load_max)
         + " ttft_limit_ns=" + std::to_string(how.ttft_limit.count()) + " tbt_limit_ns="
         + std::to_string(how.tbt_limit.count()) + conductor::to_string(how.cost);
}

rejector_actor start(const rt::world& in, rt::place where, options how,
                     std::shared_ptr<probe> counts) {
  auto as_text = to_string(how);
  return rt::spawn<rejector_state>(in, where, rt::arguments{std::move(as_text)},
                                   std::move(how), std::move(counts));
}

} // namespace perigee::rejector
