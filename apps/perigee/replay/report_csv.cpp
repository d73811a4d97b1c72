#include "apps/perigee/replay/report.hpp"

namespace perigee::app {
namespace {

std::string word(outcome::ending how) {
  switch (how) {
    case outcome::ending::open: return "open";
    case outcome::ending::served: return "served";
    case outcome::ending::refused: return "refused";
    case outcome::ending::failed: return "failed";
    case outcome::ending::not_sent: return "not_sent";
  }
  return {};
}

std::string line_of(const outcome& one) {
  std::string line = to_string(seconds_of(one.arrived));
  auto add = [&](const std::string& text) { line += ',' + text; };
  bool has_tokens = one.output_tokens > 0;
  add(std::to_string(one.input_tokens));
  add(has_tokens ? std::to_string(one.cached_tokens) : "");
  add(std::to_string(one.output_tokens));
  add(has_tokens ? to_string(milliseconds_of(one.ttft())) : "");
  add(one.tbt ? to_string(milliseconds_of(*one.tbt)) : "");
  add(to_string(seconds_of(one.ended)));
  add(word(one.how));
  add(one.why ? std::string{gateway::info_of(*one.why).text} : "");
  return line + '\n';
}

} // namespace

std::string to_csv(std::span<const outcome> all) {
  std::string text
    = "arrival_s,input_tokens,cached_tokens,output_tokens,ttft_ms,tbt_ms,"
      "end_s,outcome,cause\n";
  for (const auto& one : all)
    text += line_of(one);
  return text;
}

} // namespace perigee::app
