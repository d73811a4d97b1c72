/// \file
/// bench_serve_client: sends a trace over HTTP, and measures what comes back.
#pragma once

#include "apps/perigee/bench_serve_prompt.hpp"
#include "apps/perigee/replay/outcome.hpp"
#include "apps/perigee/replay/spread.hpp"
#include "workload/request_source.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace perigee::app {

/// Where a server is: "http://127.0.0.1:8000/v1" or without the /v1.
struct server_address {
  std::string host;
  std::string port = "80";
  std::string path; ///< Before /completions; "/v1" if the URL has none.

  bool operator==(const server_address&) const = default;
};

/// Fails with a sentence that says what was expected.
result<server_address, std::string> read_url(std::string_view url);

struct client_settings {
  server_address to;
  std::string api_key; ///< Empty: none is sent.
  prompt_material prompts;
  std::size_t open_max = 1024;     ///< Requests beyond are not sent, and have failed.
  std::chrono::seconds limit{600}; ///< Of one request, from its arrival on.
};

/// What clients saw.
struct served_trace {
  std::vector<outcome> outcomes; ///< In the trace's order.
  spread gaps;                   ///< Between any two events with text of an answer.
  std::chrono::nanoseconds lasted{};
  std::map<std::string, std::uint64_t> answers;    ///< By status; "none" if none came.
  std::map<std::string, std::uint64_t> refused_by; ///< As the server said.
  std::map<std::string, std::uint64_t> failed_by;
  std::uint64_t tokens_unseen = 0; ///< Counted by the server, without an event.
};

/// Sends each request of `trace` when it arrives, however long others take: a
/// connection each. Returns when the last one has ended. On the caller's thread.
/// `told` how many were sent and ended. Fails with a sentence if the trace does, or if
/// nobody is at that address.
result<served_trace, std::string>
serve_trace(workload::request_source& trace, const client_settings& how,
            const std::function<void(std::size_t sent, std::size_t ended)>& told);

} // namespace perigee::app
