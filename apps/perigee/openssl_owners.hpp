/// \file
/// Owners of what OpenSSL and the C library give out. Of .cpp files alone.
#pragma once

#include <openssl/evp.h>

#include <cstdio>
#include <memory>

namespace perigee::app {

using key_ptr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using file_ptr = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

} // namespace perigee::app
