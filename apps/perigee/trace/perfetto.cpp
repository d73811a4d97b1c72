#include "actors/gateway/json_text.hpp"
#include "apps/perigee/trace/course.hpp"
#include "apps/perigee/trace/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace perigee::app::trace {
namespace {

using gateway::stage;

constexpr std::int64_t slice_ns = 100;

/// Microseconds, as the format has them, to the nanosecond.
std::string us(std::int64_t ns) {
  auto size = ns < 0 ? -ns : ns;
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

class drawing {
public:
  drawing(const history& all, std::FILE* to) : all_(all), to_(to) {
    began_ = all_.messages.size() > 1 ? all_.messages[1].sent_at : 0;
    for (const auto& one : all_.messages)
      if (one.has_words)
        began_ = std::min(began_, one.sent_at);
    free_at_.resize(all_.actors.size(), began_);
    slice_of_.resize(all_.handlings.size());
  }

  void draw(std::optional<std::size_t> request) {
    choose(request);
    fmt::print(to_, "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    name_tracks();
    draw_handlings();
    draw_arrows();
    draw_runs();
    for (std::size_t i = 0; i < all_.requests.size(); ++i)
      if (!request || *request == i)
        draw_request(all_.requests[i], i);
    fmt::print(to_, "\n]}}\n");
  }

private:
  void event(const std::string& fields) {
    fmt::print(to_, "{}{{{}}}", std::exchange(comma_, ",\n"), fields);
  }

  static std::string quoted(std::string_view text) {
    std::string out;
    gateway::append_json_string(out, text);
    return out;
  }

  std::string track(std::uint32_t who) const {
    return fmt::format("\"pid\":{},\"tid\":{}",
                       processes_.at(all_.actors[who].process()), who);
  }

  std::string moment(std::int64_t at) const {
    return "\"ts\":" + us(at - began_);
  }

  std::string name_of(const message& one) const {
    return quoted(one.type ? one.type->name : "(unknown)");
  }

  /// Which messages are drawn.
  void choose(std::optional<std::size_t> request) {
    is_drawn_.assign(all_.messages.size(), !request);
    if (request)
      for (const auto& one : course_of(all_, *request))
        is_drawn_[one.message] = true;
  }

  // -- tracks -----------------------------------------------------------------

  /// Actors' numbers are threads', those of their runs lie behind them.
  std::uint32_t run_track(std::uint32_t who) const {
    return who + static_cast<std::uint32_t>(all_.actors.size());
  }

  void name_tracks() {
    for (const auto& one : all_.actors)
      processes_.try_emplace(one.process(), static_cast<int>(processes_.size()) + 2);
    name("process_name", "\"pid\":1,\"tid\":0", "requests");
    for (const auto& [process, pid] : processes_)
      if (process != all_.actors[0].name)
        name("process_name", fmt::format("\"pid\":{},\"tid\":0", pid), process);
    for (std::uint32_t i = 1; i < all_.actors.size(); ++i) {
      const auto& one = all_.actors[i];
      name("thread_name", track(i), one.label.empty() ? one.name : one.label);
      if (one.role == "engine")
        name("thread_name",
             fmt::format("\"pid\":{},\"tid\":{}", processes_.at(one.process()),
                         run_track(i)),
             one.label + ": runs");
    }
  }

  void name(const char* what, const std::string& whose, const std::string& text) {
    event(fmt::format(R"("ph":"M","name":"{}",{},"args":{{"name":{}}})", what, whose,
                      quoted(text)));
  }

  // -- what actors do ---------------------------------------------------------

  /// Begins where the one before has ended, at the earliest.
  std::int64_t place_slice(std::uint32_t who, std::int64_t at) {
    auto begin = std::max(at, free_at_[who]);
    free_at_[who] = begin + slice_ns;
    return begin;
  }

  std::string about(const message& one) const {
    if (one.request < 0)
      return {};
    auto number = all_.requests[static_cast<std::size_t>(one.request)].number;
    return fmt::format(R"("request":"{}",)", number);
  }

  void slice(std::uint32_t who, std::int64_t begin, const std::string& called,
             const std::string& told) {
    event(
      fmt::format(R"("ph":"X","cat":"handler","name":{},{},{},"dur":{},"args":{{{}}})",
                  called, track(who), moment(begin), us(slice_ns), told));
  }

  void draw_handlings() {
    for (std::uint32_t i = 1; i < all_.handlings.size(); ++i) {
      const auto& one = all_.handlings[i];
      if (one.of != 0 && !is_drawn_[one.of])
        continue;
      auto begin = place_slice(one.by, one.at);
      slice_of_[i] = begin;
      const auto& of = all_.messages[one.of];
      if (one.of == 0)
        slice(one.by, begin, "\"error or end\"", "");
      else
        slice(one.by, begin, name_of(of),
              fmt::format(R"({}"from":{},"bytes":{})", about(of),
                          quoted(all_.actors[of.by].label), of.bytes));
    }
  }

  /// Where `one` was sent: in a handler's slice, or in one of its own.
  std::int64_t departure(const message& one) {
    if (one.sent_in != 0 && slice_of_[one.sent_in])
      return *slice_of_[one.sent_in];
    auto begin = place_slice(one.by, one.sent_at);
    slice(one.by, begin, quoted("says " + (one.type ? one.type->name : "?")), "");
    return begin;
  }

  void draw_arrows() {
    for (std::uint32_t i = 1; i < all_.messages.size(); ++i) {
      const auto& one = all_.messages[i];
      if (!is_drawn_[i] || !one.has_words || one.taken_in == 0
          || !slice_of_[one.taken_in])
        continue;
      auto end = [&](const char* kind, std::uint32_t who, std::int64_t at) {
        event(fmt::format(R"({},"cat":"message","name":{},"id":{},{},{})", kind,
                          name_of(one), i, track(who), moment(at + slice_ns / 2)));
      };
      end(R"("ph":"s")", one.by, departure(one));
      end(R"("ph":"f","bp":"e")", one.taker, *slice_of_[one.taken_in]);
    }
  }

  /// From a Forward to its Forwarded, one run after the other.
  void draw_runs() {
    std::map<std::uint64_t, std::uint32_t> asked; // by span
    for (std::uint32_t i = 1; i < all_.messages.size(); ++i)
      if (const auto& one = all_.messages[i];
          is_drawn_[i] && one.type && one.type->name == "Forward" && one.taken_in != 0)
        asked.emplace(one.span, i);
    std::map<std::uint32_t, std::int64_t> free_at; // by engine
    for (const auto& one : all_.messages) {
      auto found = asked.find(one.parent);
      if (!one.type || one.type->name != "Forwarded" || found == asked.end())
        continue;
      const auto& wish = all_.messages[found->second];
      auto begin = std::max(wish.taken_at, free_at[one.by]);
      if (one.sent_at <= begin)
        continue; // nothing was computed: some sequences were forgotten
      free_at[one.by] = one.sent_at;
      event(fmt::format(R"("ph":"X","cat":"run","name":"run","pid":{},"tid":{},{},)"
                        R"("dur":{},"args":{{{}"for":{}}})",
                        processes_.at(all_.actors[one.by].process()), run_track(one.by),
                        moment(begin), us(one.sent_at - begin), about(wish),
                        quoted(all_.actors[wish.by].label)));
    }
  }

  // -- requests ---------------------------------------------------------------

  void draw_request(const request& one, std::size_t place) {
    if (!one.to_end)
      return;
    auto span = [&](const char* kind, std::string_view called, std::int64_t at,
                    const std::string& told) {
      event(
        fmt::format(R"("ph":"{}","cat":"request","id":{},"name":{},"pid":1,"tid":0,{},)"
                    R"("args":{{{}}})",
                    kind, place + 1, quoted(called), moment(at), told));
    };
    auto whole = fmt::format("request {}", one.number);
    auto before = (*one.to_end)[stage::parse] + (*one.to_end)[stage::tokenize];
    auto at = one.arrived_at - before.count();
    auto end = at + one.to_end->total().count();
    span("b", whole, at,
         fmt::format(R"("outcome":{},"input":{},"cached":{},"output":{})",
                     quoted(one.outcome), one.input_tokens, one.cached_tokens,
                     one.output_tokens));
    for (std::size_t i = 0; i < gateway::stages_count; ++i) {
      auto which = static_cast<stage>(i);
      auto length = (*one.to_end)[which].count();
      if (length <= 0)
        continue;
      span("b", gateway::name_of(which), at, "");
      at = std::min(at + length, end); // clocks that disagree may have made it too long
      span("e", gateway::name_of(which), at, "");
    }
    span("e", whole, end, "");
  }

  const history& all_;
  std::FILE* to_;
  const char* comma_ = "";
  std::int64_t began_ = 0;
  std::map<std::string, int> processes_;              ///< Their pids.
  std::vector<char> is_drawn_;                        ///< By message.
  std::vector<std::int64_t> free_at_;                 ///< By actor.
  std::vector<std::optional<std::int64_t>> slice_of_; ///< By handling: its begin.
};

} // namespace

void write_perfetto(const history& all, std::optional<std::size_t> request,
                    std::FILE* to) {
  drawing{all, to}.draw(request);
}

} // namespace perigee::app::trace
