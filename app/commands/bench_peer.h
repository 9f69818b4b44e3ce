// What training is measured against: torch::nn in a process of its own, where memory and threads are as whoever uses it
// has them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "storage/descriptor.h"

namespace attnscope {

// torch::nn::Transformer, optim::Adam and cross_entropy on the batches of one of training_workloads().
class PeerProcess {
 public:
  // Throws std::runtime_error if it cannot be started.
  PeerProcess(std::size_t workload, std::int64_t threads);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // How long its next updates took, in ms each. Throws std::runtime_error if it has ended.
  double update_milliseconds(int updates);

 private:
  Descriptor talk_{-1};
  pid_t process_ = 0;
};

// What that process does: as many updates as each line of its input says, whose milliseconds it writes. `run` as in
// training_workloads().
int run_peer(const std::string& run, std::size_t workload, std::int64_t threads);

}  // namespace attnscope
