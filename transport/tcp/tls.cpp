#include "transport/tcp/tls.hpp"

#include "transport/tcp/plain_stream.hpp"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace perigee::transport::tcp {

using streams::progress;

namespace {

/// What one record takes: more in one call is more records.
constexpr std::size_t record_bytes = 16'384;

class tls_stream final : public streams::stream {
public:
  tls_stream(streams::file socket, SSL* over) : socket_(std::move(socket)), ssl_(over) {
    SSL_set_fd(over, socket_.fd());
  }

  int fd() const override {
    return socket_.fd();
  }

  result<bool, loss> shake_hands() override;
  progress send(std::span<const iovec> parts, bool more_follows, int passed) override;
  progress receive(std::span<const iovec> parts) override;

  bool has_more() const override {
    return SSL_pending(ssl_.get()) > 0;
  }

  bool awaits_room() const override {
    return awaits_room_;
  }

  void cut() override {
    discard_on_close(fd());
    shutdown(fd(), SHUT_RD);
  }

private:
  struct freeing {
    void operator()(SSL* what) const {
      SSL_free(what);
    }
  };

  bool goes_on(int returned);

  const streams::file socket_;
  const std::unique_ptr<SSL, freeing> ssl_;
  std::array<std::byte, record_bytes> record_{};
  bool awaits_room_ = false;
};

/// Whether a call that did nothing may be tried again later.
bool tls_stream::goes_on(int returned) {
  auto why = SSL_get_error(ssl_.get(), returned);
  awaits_room_ = why == SSL_ERROR_WANT_WRITE;
  return awaits_room_ || why == SSL_ERROR_WANT_READ;
}

result<bool, loss> tls_stream::shake_hands() {
  ERR_clear_error();
  auto said = SSL_do_handshake(ssl_.get());
  if (said == 1) {
    awaits_room_ = false;
    return true;
  }
  if (goes_on(said))
    return false;
  // Without a word from the other side there is nobody.
  bool was_there = SSL_get_error(ssl_.get(), said) == SSL_ERROR_SSL;
  return failure(was_there ? loss::turned_away : loss::unreachable);
}

/// One record a call. A call that found no room is repeated with the same bytes, and
/// maybe more, for the parts are in line.
progress tls_stream::send(std::span<const iovec> parts, bool, int) {
  std::size_t bytes = 0;
  const void* from = parts.front().iov_base;
  if (parts.front().iov_len >= record_bytes) {
    bytes = record_bytes;
  } else {
    for (const auto& one : parts) { // small ones share a record
      auto taken = std::min(one.iov_len, record_bytes - bytes);
      std::memcpy(record_.data() + bytes, one.iov_base, taken);
      bytes += taken;
    }
    from = record_.data();
  }
  ERR_clear_error();
  std::size_t sent = 0;
  auto said = SSL_write_ex(ssl_.get(), from, bytes, &sent);
  if (said == 1)
    return {.bytes = sent};
  return {.has_ended = !goes_on(said)};
}

progress tls_stream::receive(std::span<const iovec> parts) {
  progress came;
  for (const auto& one : parts)
    for (std::size_t at = 0; at < one.iov_len;) {
      ERR_clear_error();
      std::size_t now = 0;
      auto said = SSL_read_ex(ssl_.get(), static_cast<std::byte*>(one.iov_base) + at,
                              one.iov_len - at, &now);
      if (said != 1) {
        came.has_ended = !goes_on(said);
        return came;
      }
      at += now;
      came.bytes += now;
    }
  return came;
}

setup_fault cannot(const std::string& what, const std::string& path) {
  char why[256] = "no reason given";
  if (auto code = ERR_peek_last_error())
    ERR_error_string_n(code, why, sizeof why);
  return {"cannot " + what + " '" + path + "': " + why};
}

} // namespace

result<std::shared_ptr<const tls_context>, setup_fault>
tls_context::read(const certificates& from) {
  ERR_clear_error();
  auto* context = SSL_CTX_new(TLS_method());
  if (!context)
    return failure(setup_fault{"TLS cannot be set up"});
  std::shared_ptr<const tls_context> made{new tls_context{context}};
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     nullptr);
  SSL_CTX_set_mode(context,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  if (SSL_CTX_load_verify_file(context, from.authority.c_str()) != 1)
    return failure(cannot("read the authority's certificate", from.authority));
  if (SSL_CTX_use_certificate_chain_file(context, from.certificate.c_str()) != 1)
    return failure(cannot("read the certificate", from.certificate));
  if (SSL_CTX_use_PrivateKey_file(context, from.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return failure(cannot("use the certificate's key", from.key));
  return made;
}

std::shared_ptr<streams::stream> tls_context::stream_over(streams::file socket,
                                                          bool is_client) const {
  auto* over = SSL_new(context_.get());
  if (!over)
    return nullptr;
  if (is_client)
    SSL_set_connect_state(over);
  else
    SSL_set_accept_state(over);
  return std::make_shared<tls_stream>(std::move(socket), over);
}

} // namespace perigee::transport::tcp
