/// \file
/// unix_port: makes connections within this host, and accepts them.
#pragma once

#include "transport/shm/shm.hpp"

namespace perigee::transport::shm {

class unix_port final : public streams::port {
public:
  static result<std::unique_ptr<unix_port>, setup_fault> open(const options& how);
  ~unix_port() override;

  endpoint here() const override {
    return here_;
  }

  int fd() const override {
    return socket_.fd();
  }

  std::shared_ptr<streams::stream> accept() override;
  bool allows(const endpoint& where) const override;
  std::shared_ptr<streams::stream> dial(const endpoint& where) const override;

private:
  unix_port(streams::file socket, std::string path, endpoint here)
    : socket_(std::move(socket)), path_(std::move(path)), here_(std::move(here)) {}

  const streams::file socket_;
  const std::string path_; ///< Empty if there is none.
  const endpoint here_;
};

} // namespace perigee::transport::shm
