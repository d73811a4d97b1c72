/// \file
/// bad_input: what is wrong with something a person wrote, and what was expected.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace perigee::cluster {

struct bad_input {
  enum class code : std::uint8_t {
    unreadable = 1, ///< Not there, too large, or no text.
    syntax,         ///< No TOML.
    unknown_key,    ///< `nearest` is one that there is, if one is near.
    wrong_value,    ///< Of another type, or out of its bounds.
    contradiction,  ///< Each value is right, but not beside the others.
  };

  code what = code::unreadable;
  std::string file;     ///< Or "environment", or "command line".
  unsigned line = 0;    ///< 0: the whole of it.
  std::string key;      ///< Such as "policy.placement", or "node[0].name".
  std::string found;    ///< What stands there, as far as that helps.
  std::string expected; ///< As in "a whole number from 1 to 64".
  std::string nearest;  ///< The valid name that is nearest to what was found, or empty.
};

/// All that is wrong, in the order of the lines.
using complaints = std::vector<bad_input>;

/// `laptop.toml:12: policy.placement is "kvcache": expected one of ...; did you mean
/// "kvcache_centric"?`
std::string to_string(const bad_input& wrong);

/// One line each.
std::string to_string(const complaints& wrong);

/// The one of `names` that `given` was likely meant to be; empty if none is near.
std::string nearest(const std::string& given, const std::vector<std::string>& names);

} // namespace perigee::cluster
