#include "actors/cluster/setting_forms.hpp"

#include <arpa/inet.h>

namespace perigee::cluster {
namespace {

constexpr std::size_t name_length_max = 32;

bool is_port(const std::string& text) {
  return !text.empty() && text.size() <= 5
         && text.find_first_not_of("0123456789") == std::string::npos
         && std::stoul(text) <= 65535;
}

bool is_host_and_port(const std::string& text) {
  auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || !is_port(text.substr(colon + 1)))
    return false;
  auto host = text.substr(0, colon);
  if (host.front() == '[')
    return host.size() > 2 && host.back() == ']';
  return host.find_first_of(":/[] ") == std::string::npos;
}

bool is_ip_address(const std::string& text) {
  in6_addr any{};
  return inet_pton(AF_INET, text.c_str(), &any) == 1
         || inet_pton(AF_INET6, text.c_str(), &any) == 1;
}

} // namespace

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= name_length_max
         && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
              == std::string::npos;
}

bool is_name_or_empty(const std::string& text) {
  return text.empty() || is_name(text);
}

bool is_filled(const std::string& text) {
  return !text.empty();
}

bool is_public_key(const std::string& text) {
  return text.empty()
         || (text.size() == 64
             && text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos);
}

bool is_address_and_port(const std::string& text) {
  auto colon = text.rfind(':');
  if (!is_host_and_port(text))
    return false;
  auto host = text.substr(0, colon);
  return is_ip_address(host.front() == '[' ? host.substr(1, host.size() - 2) : host);
}

bool is_address_and_port_or_empty(const std::string& text) {
  return text.empty() || is_address_and_port(text);
}

} // namespace perigee::cluster
