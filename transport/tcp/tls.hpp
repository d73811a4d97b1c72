/// \file
/// tls: TCP connections that are secret, and whose ends hold certificates.
#pragma once

#include "transport/streams/stream.hpp"
#include "transport/tcp/tcp.hpp"

#include <openssl/ssl.h>

namespace perigee::transport::tcp {

/// What all connections of a process have in common. TLS 1.3 and later; both ends must
/// show a certificate that the authority has signed. It does not matter whose: who it
/// is, the ticket tells.
class tls_context {
public:
  /// Reads the files. Refuses where one can't be read, or the key is not the
  /// certificate's.
  static result<std::shared_ptr<const tls_context>, setup_fault>
  read(const certificates& from);

  std::shared_ptr<streams::stream> stream_over(streams::file socket,
                                               bool is_client) const;

private:
  struct freeing {
    void operator()(SSL_CTX* what) const {
      SSL_CTX_free(what);
    }
  };

  explicit tls_context(SSL_CTX* made) : context_(made) {}

  std::unique_ptr<SSL_CTX, freeing> context_;
};

} // namespace perigee::transport::tcp
