/// \file
/// file: owns a file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

namespace perigee::transport::streams {

class file {
public:
  file() = default;
  explicit file(int fd) : fd_(fd) {}
  file(file&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  file& operator=(file&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  ~file() {
    close();
  }

  /// False for what a system call has refused.
  explicit operator bool() const {
    return fd_ >= 0;
  }

  int fd() const {
    return fd_;
  }

private:
  void close() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  int fd_ = -1;
};

} // namespace perigee::transport::streams
