/// \file
/// busy_process: somebody else who keeps a processor busy.
#pragma once

#include <sys/types.h>

namespace perigee::app {

/// A child process, tied to the first processor that we may use, that computes until
/// this object ends, or we do. Does nothing where it can't be started.
class busy_process {
public:
  busy_process();
  ~busy_process();
  busy_process(const busy_process&) = delete;
  busy_process& operator=(const busy_process&) = delete;

private:
  pid_t child_ = -1;
};

} // namespace perigee::app
