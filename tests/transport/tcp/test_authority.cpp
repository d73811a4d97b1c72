#include "tests/transport/tcp/test_authority.hpp"

#include <catch2/catch.hpp>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace perigee::transport::test {

namespace {

template <class T, void (*Free)(T*)>
struct freeing {
  void operator()(T* what) const {
    Free(what);
  }
};

using key_ptr = std::unique_ptr<EVP_PKEY, freeing<EVP_PKEY, EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freeing<X509, X509_free>>;

struct closing {
  void operator()(std::FILE* what) const {
    std::fclose(what);
  }
};

std::unique_ptr<std::FILE, closing> create(const std::string& path) {
  std::unique_ptr<std::FILE, closing> made{std::fopen(path.c_str(), "w")};
  REQUIRE(made);
  return made;
}

/// Of `name`, for the holder of `key`, not signed yet.
certificate_ptr draft(const std::string& name, EVP_PKEY* key, long number) {
  certificate_ptr made{X509_new()};
  X509_set_version(made.get(), 2); // which is the third
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), number);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  X509_set_pubkey(made.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1,
                             -1, 0);
  return made;
}

void write(const std::string& path, X509* what) {
  REQUIRE(PEM_write_X509(create(path).get(), what) == 1);
}

} // namespace

struct test_authority::secret {
  key_ptr key{EVP_EC_gen("P-256")};
  certificate_ptr certificate = draft("authority", key.get(), 1);
};

test_authority::test_authority() : own_(std::make_unique<secret>()) {
  std::string made = std::filesystem::temp_directory_path() / "perigee_tls_XXXXXX";
  REQUIRE(mkdtemp(made.data()));
  folder_ = made;
  auto* one = own_->certificate.get();
  X509_set_issuer_name(one, X509_get_subject_name(one));
  auto* is_authority
    = X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
  X509_add_ext(one, is_authority, -1);
  X509_EXTENSION_free(is_authority);
  REQUIRE(X509_sign(one, own_->key.get(), EVP_sha256()) > 0);
  write(path("authority"), one);
}

test_authority::~test_authority() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string test_authority::path(const std::string& name) const {
  return folder_ / (name + ".pem");
}

tcp::certificates test_authority::issue(const std::string& name) const {
  key_ptr key{EVP_EC_gen("P-256")};
  auto made = draft(name, key.get(), 2);
  X509_set_issuer_name(made.get(), X509_get_subject_name(own_->certificate.get()));
  REQUIRE(X509_sign(made.get(), own_->key.get(), EVP_sha256()) > 0);
  write(path(name), made.get());
  REQUIRE(PEM_write_PrivateKey(create(path(name + "_key")).get(), key.get(), nullptr,
                               nullptr, 0, nullptr, nullptr)
          == 1);
  return {path("authority"), path(name), path(name + "_key")};
}

} // namespace perigee::transport::test
