/// \file
/// http_link: the whole HTTP side of a gateway, in touch with its actor.
#pragma once

#include "actors/gateway/gateway.hpp"
#include "actors/gateway/http_front.hpp"

#include <memory>
#include <string>

namespace perigee::gateway {

/// A server, its front desk, and their way to the actor and back. Give it to start() as
/// the patron.
///
/// Must have stopped before the actor system ends: it holds the actor's handle.
class http_link : public patron {
public:
  /// Listens, and takes nobody in before serve(). Fails with a sentence.
  ///
  /// `in` is the world of the doorway: its `where` is the gateway's place. `front`
  /// needs no seeds: they are drawn from the world's.
  static result<std::shared_ptr<http_link>, std::string> open(const rt::world& in,
                                                              http_settings http,
                                                              front_settings front,
                                                              served_model model);

  /// The port that it listens at.
  virtual std::uint16_t port() const = 0;

  virtual void serve() = 0;

  /// Whether there is an actor to take requests. From any thread.
  virtual bool has_gateway() const = 0;

  /// As http_server::stop(): what is open has an error for an answer. Then lets go of
  /// the actor.
  virtual void stop(std::chrono::milliseconds limit) = 0;

  virtual const http_probe& probe() const = 0;
};

} // namespace perigee::gateway
