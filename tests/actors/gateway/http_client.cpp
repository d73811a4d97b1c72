#include "tests/actors/gateway/http_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace perigee::test {
namespace {

constexpr int patience_ms = 10'000;

} // namespace

http_client::http_client(std::uint16_t port)
  : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (socket_ < 0
      || ::connect(socket_, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0)
    throw std::runtime_error("cannot connect");
}

http_client::~http_client() {
  close();
}

void http_client::close() {
  if (socket_ >= 0)
    ::close(socket_);
  socket_ = -1;
}

bool http_client::put(std::string_view bytes) {
  while (!bytes.empty()) {
    auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool http_client::read_more() {
  pollfd wait{socket_, POLLIN, 0};
  if (::poll(&wait, 1, patience_ms) <= 0)
    throw std::runtime_error("the server keeps silent");
  char bytes[16384];
  auto got = ::recv(socket_, bytes, sizeof bytes, 0);
  if (got > 0)
    in_.append(bytes, static_cast<std::size_t>(got));
  return got > 0;
}

std::optional<std::string> http_client::read_until(std::string_view end) {
  std::size_t at = 0;
  while ((at = in_.find(end)) == std::string::npos)
    if (!read_more())
      return {};
  auto out = in_.substr(0, at + end.size());
  in_.erase(0, at + end.size());
  return out;
}

std::optional<http_reply> http_client::reply(bool has_body) {
  auto head = read_until("\r\n\r\n");
  if (!head || !head->starts_with("HTTP/1.1 "))
    return {};
  http_reply got;
  got.status = std::stoi(head->substr(9, 3));
  for (auto at = head->find("\r\n") + 2; at + 2 < head->size();) {
    auto end = head->find("\r\n", at);
    auto colon = head->find(": ", at);
    auto name = head->substr(at, colon - at);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    got.fields[name] = head->substr(colon + 2, end - colon - 2);
    at = end + 2;
  }
  if (got.status == 100 || !has_body)
    return got;
  if (got.fields.contains("transfer-encoding")) {
    while (auto size = read_until("\r\n")) {
      auto length = std::stoul(*size, nullptr, 16);
      while (in_.size() < length + 2)
        if (!read_more())
          return {};
      got.body += in_.substr(0, length);
      in_.erase(0, length + 2);
      if (length == 0)
        return got;
    }
    return {};
  }
  if (!got.fields.contains("content-length"))
    return got;
  auto length = std::stoul(got.fields["content-length"]);
  while (in_.size() < length)
    if (!read_more())
      return {};
  got.body = in_.substr(0, length);
  in_.erase(0, length);
  return got;
}

bool http_client::is_closed() {
  try {
    while (read_more())
      in_.clear();
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

void http_client::shut_writing() {
  ::shutdown(socket_, SHUT_WR);
}

void http_client::shrink_receive_buffer() {
  int bytes = 4096;
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

std::string get(std::string_view path, std::string_view more_headers) {
  std::string out = "GET ";
  return out.append(path)
    .append(" HTTP/1.1\r\nHost: x\r\n")
    .append(more_headers)
    .append("\r\n");
}

std::string post(std::string_view path, std::string_view body,
                 std::string_view more_headers) {
  std::string out = "POST ";
  return out.append(path)
    .append(
      " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ")
    .append(std::to_string(body.size()))
    .append("\r\n")
    .append(more_headers)
    .append("\r\n")
    .append(body);
}

} // namespace perigee::test
