/// \file
/// What a request line and its headers mean, judged without a socket.
#pragma once

#include "actors/gateway/api_error.hpp"
#include "actors/gateway/http_call.hpp"
#include "actors/gateway/http_settings.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace perigee::gateway {

/// Looks a header up; empty if it is absent. Names in lower case.
using header_lookup = std::function<std::string_view(std::string_view name)>;

/// Whether they are equal but for the case of ASCII letters.
bool is_same_word(std::string_view one, std::string_view other);

struct destination {
  route to{};
  std::string model; ///< What stands behind `/v1/models/`, with %XX read.
  bool is_post = false;
  bool is_guarded = false; ///< Asks for an API key, if the server has any.
};

/// Where `target`, such as `/v1/models/x?y`, leads, whatever the method; nothing if
/// nowhere. Scheme and host may stand before it, and do not matter.
std::optional<destination> find_destination(std::string_view target);

/// The methods it takes, as `Allow` has them.
std::string_view methods_of(const destination& to);

/// Whether `method` may go there.
bool takes(const destination& to, std::string_view method);

/// Whether a client may name its request so.
bool is_request_id(std::string_view text);

/// Sets what headers say of the call: request id, trace, objectives. `fallback_id` is
/// the id of a request that has none.
api_result<void> read_headers(http_call& call, const header_lookup& header,
                              std::string fallback_id);

/// Whether a body of this type will be read: JSON, in UTF-8 if a charset is named.
bool is_json_type(std::string_view content_type);

/// Whether `authorization` is `Bearer` and one of `keys`. Takes as long whichever it is
/// and wherever they differ.
bool is_authorized(std::string_view authorization, std::span<const std::string> keys);

/// The headers that let a web page of `origin` read the answer; none if it may not.
std::vector<std::pair<std::string, std::string>>
cors_fields(std::string_view origin, std::span<const std::string> allowed);

/// Those of an answer to a preflight, besides.
std::vector<std::pair<std::string, std::string>>
preflight_fields(std::string_view methods, std::string_view requested_headers);

} // namespace perigee::gateway
