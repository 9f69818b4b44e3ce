// What training is measured on, and against: torch::nn in a process of its own, where memory and threads are as whoever
// uses it has them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plain/config.h"

namespace attnscope {

struct Dataset;

// What is trained on, and how.
struct Workload {
  std::string name;
  Config config;
  std::int64_t vocab_size = 0;
  std::shared_ptr<const Dataset> dataset;
};

// The tiny and the small configuration that everyone measures with, and the run in the folder `run` with its pairs as
// they meet by default and those of like length.
std::vector<Workload> training_workloads(const std::string& run);

// torch::nn::Transformer, optim::Adam and cross_entropy on the batches of one of these workloads.
class PeerProcess {
 public:
  // Throws std::runtime_error if it cannot be started.
  PeerProcess(std::size_t workload, std::int64_t threads);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  // How long its next update took, in ms. Throws std::runtime_error if it has ended.
  double step();

 private:
  int talk_ = -1;
  pid_t process_ = 0;
};

// What that process does: an update for each line of its input, whose milliseconds it writes. `run` as in
// training_workloads().
int run_peer(const std::string& run, std::size_t workload, std::int64_t threads);

}  // namespace attnscope
