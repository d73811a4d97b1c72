/// \file
/// The transfer actor: turns requests for KV movement into a transport's moves.
#pragma once

#include "actors/interfaces.hpp"
#include "actors/runtime/world.hpp"
#include "actors/transfer/line_terms.hpp"
#include "actors/transfer/modelled_links.hpp"
#include "actors/transfer/paths.hpp"
#include "actors/transfer/probe.hpp"
#include "transport/gate_board.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace perigee::transfer {

struct options {
  /// Movements that may be open. Who asks for more is told `busy`.
  std::size_t movements_max = 4096;

  /// How long one may take, if its asker waits as long.
  std::chrono::milliseconds limit{5'000};

  /// The same of one behind a gate: most of that is the engine's time, which is as slow
  /// as it is. Who asked for it ends it with the request.
  std::chrono::milliseconds gated_limit{600'000};

  modelled_links links{};

  line_plan lines{};

  /// Draws what nobody can guess. Needed where there are ways to other processes.
  std::function<transport::ticket()> draw{};
};

/// As a journal keeps them: "movements_max=4096 limit_ms=5000 ...".
std::string to_string(const options& how);

/// What the actors and devices of a process share.
struct shared_memory {
  std::shared_ptr<transport::segment_table> segments;
  std::shared_ptr<transport::gate_board> gates;
};

/// Makes the transports of one transfer actor. They may refer to the segments.
///
/// Each way tells what becomes of its peers by `news_of(its name)`, from a thread of its
/// own.
using news_of = std::function<transport::on_peer(std::string_view way)>;
using make_paths = std::function<paths(const shared_memory&, const news_of&)>;

/// The `local` transport, with its thread. For real.
paths local_path(const shared_memory& memory, const news_of&);

/// The same without a thread. For virtual time.
paths inline_path(const shared_memory& memory, const news_of&);

/// Starts a node's transfer actor at `where`. One per node; may be restarted at any
/// time: it takes its movements with it, and by the time its end is known none of them
/// touches memory any more. Counts into `counts`.
transfer_actor start(const rt::world& in, rt::place where, shared_memory memory,
                     make_paths make, options how = {},
                     std::shared_ptr<probe> counts = std::make_shared<probe>());

} // namespace perigee::transfer
