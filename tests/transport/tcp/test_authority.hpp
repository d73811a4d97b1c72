/// \file
/// Certificates for tests, made on the spot.
#pragma once

#include "transport/tcp/tcp.hpp"

#include <filesystem>

namespace perigee::transport::test {

/// An authority of its own, whose files go when it does.
class test_authority {
public:
  test_authority();
  test_authority(const test_authority&) = delete;
  test_authority& operator=(const test_authority&) = delete;
  ~test_authority();

  /// A certificate that this authority has signed.
  tcp::certificates issue(const std::string& name) const;

private:
  struct secret;

  std::string path(const std::string& name) const;

  std::filesystem::path folder_;
  std::unique_ptr<secret> own_;
};

} // namespace perigee::transport::test
