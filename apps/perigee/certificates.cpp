#include "apps/perigee/certificates.hpp"

#include "apps/perigee/node_keys.hpp"
#include "apps/perigee/node_side.hpp"
#include "apps/perigee/openssl_owners.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace perigee::app {
namespace {

using certificate_ptr = std::unique_ptr<X509, decltype(&X509_free)>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)>;

/// What OpenSSL refuses here is a bug or a lack of memory; one sentence does for all.
struct cannot {
  std::string what;
};

void need(bool done, const char* what) {
  if (!done)
    throw cannot{std::string{"OpenSSL cannot "} + what};
}

/// Fails if the file is there already.
file_ptr create(const std::string& path, mode_t mode) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0)
    throw cannot{"cannot make " + path + ": " + std::strerror(errno)};
  return {fdopen(fd, "w"), &std::fclose};
}

void write_key(const std::string& path, EVP_PKEY* key) {
  auto to = create(path, S_IRUSR | S_IWUSR);
  need(PEM_write_PrivateKey(to.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
       "write a key");
}

void write_certificate(const std::string& path, X509* one) {
  auto to = create(path, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  need(PEM_write_X509(to.get(), one) == 1, "write a certificate");
}

key_ptr make_key(const char* algorithm, const char* curve = nullptr) {
  key_ptr key{curve ? EVP_PKEY_Q_keygen(nullptr, nullptr, algorithm, curve)
                    : EVP_PKEY_Q_keygen(nullptr, nullptr, algorithm),
              &EVP_PKEY_free};
  need(key != nullptr, "make a key");
  return key;
}

void add_extension(X509* to, X509* by, int which, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, by, to, nullptr, nullptr, 0);
  extension_ptr one{X509V3_EXT_conf_nid(nullptr, &context, which, value.c_str()),
                    &X509_EXTENSION_free};
  need(one && X509_add_ext(to, one.get(), -1) == 1, "add to a certificate");
}

struct subject {
  std::string name;
  std::string names; ///< As OpenSSL takes alternative names. Empty: an authority.
};

certificate_ptr make_certificate(const subject& of, EVP_PKEY* key, X509* by,
                                 EVP_PKEY* by_key, long days) {
  certificate_ptr one{X509_new(), &X509_free};
  need(one != nullptr, "make a certificate");
  X509_set_version(one.get(), X509_VERSION_3);
  std::array<std::byte, 8> serial;
  draw_secret(serial.data(), serial.size());
  std::uint64_t number = 0;
  std::memcpy(&number, serial.data(), serial.size());
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(one.get()), number >> 1);
  X509_gmtime_adj(X509_getm_notBefore(one.get()), -3600); // clocks differ
  X509_time_adj_ex(X509_getm_notAfter(one.get()), static_cast<int>(days), 0, nullptr);
  X509_set_pubkey(one.get(), key);
  auto* name = X509_get_subject_name(one.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(of.name.c_str()),
                             -1, -1, 0);
  auto* issuer = by ? by : one.get();
  X509_set_issuer_name(one.get(), X509_get_subject_name(issuer));
  bool is_authority = of.names.empty();
  add_extension(one.get(), issuer, NID_basic_constraints,
                is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  add_extension(one.get(), issuer, NID_key_usage,
                is_authority ? "critical,keyCertSign,cRLSign"
                             : "critical,digitalSignature");
  if (!is_authority) {
    add_extension(one.get(), issuer, NID_subject_alt_name, of.names);
    add_extension(one.get(), issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  }
  need(X509_sign(one.get(), by_key, EVP_sha256()) > 0, "sign a certificate");
  return one;
}

std::string public_half(EVP_PKEY* key) {
  std::array<unsigned char, 32> raw;
  std::size_t bytes = raw.size();
  need(EVP_PKEY_get_raw_public_key(key, raw.data(), &bytes) == 1, "show a key");
  std::string hex;
  for (auto one : raw) {
    constexpr char digits[] = "0123456789abcdef";
    hex += digits[one >> 4];
    hex += digits[one & 15];
  }
  return hex;
}

std::map<std::string, std::string> make_all(const cluster::topology& all,
                                            const key_files& files, long days) {
  std::filesystem::create_directories(files.folder);
  auto authority_key = make_key("EC", "P-256");
  auto authority
    = make_certificate({"perigee " + all.cluster.name, ""}, authority_key.get(),
                       nullptr, authority_key.get(), days);
  write_certificate(files.authority(), authority.get());
  std::map<std::string, std::string> halves;
  for (const auto& node : all.nodes) {
    auto key = make_key("EC", "P-256");
    auto names = "DNS:" + node.name;
    if (!node.address.empty())
      names += ",IP:" + ports_of(node).address;
    auto own = make_certificate({node.name, names}, key.get(), authority.get(),
                                authority_key.get(), days);
    write_certificate(files.certificate(node.name), own.get());
    write_key(files.certificate_key(node.name), key.get());
    auto name_key = make_key("ED25519");
    write_key(files.name_key(node.name), name_key.get());
    halves[node.name] = public_half(name_key.get());
  }
  return halves;
}

} // namespace

result<std::map<std::string, std::string>, std::string>
make_certificates(const cluster::topology& all, const std::string& folder, long days) {
  try {
    return make_all(all, {folder}, days);
  } catch (const cannot& why) {
    return failure(why.what);
  } catch (const std::filesystem::filesystem_error& why) {
    return failure(std::string{why.what()});
  }
}

} // namespace perigee::app
