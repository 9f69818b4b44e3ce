// The baseline for training speed: torch::nn in a separate process, with its own default memory allocation and threads.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/descriptor.h"

namespace attnscope {

// torch::nn::Transformer, optim::Adam and cross_entropy on the batches of one of training_workloads().
class PeerProcess {
 public:
  // Throws std::runtime_error if it cannot be started.
  PeerProcess(std::size_t workload, std::int64_t threads);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // Milliseconds of each of its next steps. Throws std::runtime_error if the process has ended.
  double update_milliseconds(int updates);

 private:
  Descriptor talk_{-1};
  pid_t process_ = 0;
};

// The process's main function: reads a number of steps per input line, runs them and prints the milliseconds. `run` as
// in training_workloads().
int run_peer(const std::string& run, std::size_t workload, std::int64_t threads);

}  // namespace attnscope
