/// \file
/// What other programs draw from a history.
#pragma once

#include "apps/perigee/trace/history.hpp"

#include <cstdio>
#include <optional>

namespace perigee::app::trace {

/// Chrome's JSON trace format, which ui.perfetto.dev opens: a process for each node, a
/// thread for each actor with a slice for each message that it handled, arrows from
/// where a message was sent to where it was taken, an engine's runs on a thread of
/// their own, and each request with its stages. All messages, or those about `request`
/// alone.
///
/// A journal knows when handlers begin, not when they end: their slices are a tenth of
/// a microsecond long, and stand one after the other where many begin in one moment.
void write_perfetto(const history& all, std::optional<std::size_t> request,
                    std::FILE* to);

/// A sequence diagram, in Mermaid's language, of the messages about one request;
/// without those of batches that it shared with others.
void write_mermaid(const history& all, std::size_t request, std::FILE* to);

/// How long engines took over what their owners asked, as a table of measurements that
/// `perigee calibrate --from` reads: a row for each Forward that is either one
/// prompt's part, or decodes. The time is its owner's, from asking to hearing; of a run of
/// steps, a step's share.
/// Returns how many rows there are beneath the head.
std::size_t write_batches(const history& all,
                          const std::vector<journal::life_folder>& lives,
                          std::FILE* to);

} // namespace perigee::app::trace
