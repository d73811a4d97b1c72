#include "apps/perigee/node_keys.hpp"

#include "apps/perigee/openssl_owners.hpp"
#include "schemas/assert.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstdio>

namespace perigee::app {
namespace {

using digest_ptr = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

constexpr std::size_t public_bytes = 32, signature_bytes = 64;

key_ptr public_key_of(const std::string& hex) {
  unsigned char raw[public_bytes];
  for (std::size_t i = 0; i < public_bytes; ++i)
    raw[i] = static_cast<unsigned char>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  return {EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, raw, public_bytes),
          &EVP_PKEY_free};
}

key_ptr private_key_in(const std::string& path) {
  file_ptr from{std::fopen(path.c_str(), "r"), &std::fclose};
  return {from ? PEM_read_PrivateKey(from.get(), nullptr, nullptr, nullptr) : nullptr,
          &EVP_PKEY_free};
}

const unsigned char* bytes_of(std::string_view what) {
  return reinterpret_cast<const unsigned char*>(what.data());
}

class node_keys final : public cluster::credentials {
public:
  node_keys(key_ptr mine, std::vector<key_ptr> all)
    : mine_(std::move(mine)), all_(std::move(all)) {}

  cluster::challenge draw() override {
    cluster::challenge fresh;
    draw_secret(fresh.data(), fresh.size());
    return fresh;
  }

  cluster::proof sign(std::string_view what) override {
    cluster::proof signature(signature_bytes);
    std::size_t bytes = signature.size();
    digest_ptr by{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
    bool done
      = EVP_DigestSignInit(by.get(), nullptr, nullptr, nullptr, mine_.get()) == 1
        && EVP_DigestSign(by.get(), reinterpret_cast<unsigned char*>(signature.data()),
                          &bytes, bytes_of(what), what.size())
             == 1;
    PERIGEE_ASSERT(done, "an Ed25519 key signs anything");
    return signature;
  }

  bool verify(node_index by, std::string_view what,
              const cluster::proof& shown) override {
    auto at = static_cast<std::size_t>(by);
    if (at >= all_.size() || shown.size() != signature_bytes)
      return false;
    digest_ptr with{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
    return EVP_DigestVerifyInit(with.get(), nullptr, nullptr, nullptr, all_[at].get())
             == 1
           && EVP_DigestVerify(with.get(),
                               reinterpret_cast<const unsigned char*>(shown.data()),
                               shown.size(), bytes_of(what), what.size())
                == 1;
  }

private:
  key_ptr mine_;
  std::vector<key_ptr> all_; // by node
};

class no_keys final : public cluster::credentials {
public:
  cluster::challenge draw() override {
    cluster::challenge fresh;
    draw_secret(fresh.data(), fresh.size());
    return fresh;
  }
  cluster::proof sign(std::string_view) override {
    return {};
  }
  bool verify(node_index, std::string_view, const cluster::proof&) override {
    return true;
  }
};

} // namespace

result<std::shared_ptr<cluster::credentials>, std::string>
credentials_of(const cluster::topology& all, node_index self) {
  auto lacking = std::ranges::count_if(
    all.nodes, [](const cluster::node& one) { return one.key.empty(); });
  if (lacking == static_cast<std::ptrdiff_t>(all.nodes.size()))
    return std::make_shared<no_keys>();
  if (lacking > 0)
    return failure(std::string{"some nodes of the topology have a key and others have "
                               "none: expected one for each, or none at all"});
  const auto& node = all.nodes[static_cast<std::size_t>(self)];
  auto path = key_files{all.network.tls}.name_key(node.name);
  auto mine = private_key_in(path);
  if (!mine || EVP_PKEY_id(mine.get()) != EVP_PKEY_ED25519)
    return failure(path + ": expected an Ed25519 key, as `perigee certs` makes it");
  std::vector<key_ptr> known;
  for (const auto& one : all.nodes)
    known.push_back(public_key_of(one.key));
  if (EVP_PKEY_eq(mine.get(), known[static_cast<std::size_t>(self)].get()) != 1)
    return failure(path + ": is not the private half of the key that the topology has "
                   + "for " + node.name);
  return std::make_shared<node_keys>(std::move(mine), std::move(known));
}

void draw_secret(std::byte* to, std::size_t bytes) {
  bool done
    = RAND_bytes(reinterpret_cast<unsigned char*>(to), static_cast<int>(bytes)) == 1;
  PERIGEE_ASSERT(done, "the system has random bytes");
}

} // namespace perigee::app
