/// \file
/// words_text: what a message says, in a line.
#pragma once

#include "apps/perigee/message_book.hpp"

#include <string>

namespace perigee::app::trace {

/// Its fields but for the header, and those that have their defaults, in short: of
/// lists how long they are, of large numbers the last digits. At most `length_max`
/// characters.
std::string fields_of(const message_type& type, words_view words,
                      std::size_t length_max);

} // namespace perigee::app::trace
