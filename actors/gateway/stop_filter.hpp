/// \file
/// stop_filter: ends a text before the first stop string in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perigee::gateway {

/// Lets text through, but for what may still become a stop string: of the text so far,
/// the longest end that one of them begins with. However a text is cut into pieces, the
/// same comes out of it.
///
/// Of several stop strings the one that is complete first ends the text; of those that
/// are complete at once, the longest.
class stop_filter {
public:
  /// None of `stops` is empty.
  explicit stop_filter(std::vector<std::string> stops);

  /// What may go out now that `text` came. After stopped(), nothing.
  std::string push(std::string_view text);

  /// The text ends here: what was held back, and is no stop string.
  std::string flush();

  bool stopped() const {
    return stopped_;
  }

private:
  std::size_t held_back() const;

  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

} // namespace perigee::gateway
