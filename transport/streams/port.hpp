/// \file
/// port: where the streams of a back end come from.
#pragma once

#include "transport/streams/stream.hpp"

#include <memory>

namespace perigee::transport::streams {

class port {
public:
  virtual ~port() = default;

  /// To be given to those who are to dial().
  virtual endpoint here() const = 0;

  /// Readable when accept() has something.
  virtual int fd() const = 0;

  /// The next who has come; null if nobody has.
  virtual std::shared_ptr<stream> accept() = 0;

  /// Whether dial() may be tried: it is an endpoint of this kind, and an allowed one.
  virtual bool allows(const endpoint& where) const = 0;

  /// Begins to connect, to what is allowed; null if nobody is there. Never waits.
  virtual std::shared_ptr<stream> dial(const endpoint& where) const = 0;
};

} // namespace perigee::transport::streams
