// Where this process stands among those that train one run together.
#pragma once

#include <optional>
#include <string>

namespace attnscope {

struct RankPlace {
  int rank = 0;  // from 0 on; rank 0 keeps the run
  int size = 1;  // how many there are
  int here = 1;  // of them on this machine, whose cores they share
  // Where they find each other: in a file, if all are here, else at rank 0's machine.
  std::string file = {};
  std::string host = {};
  int port = 0;
  bool agent_listens = false;  // at that port: rank 0 need not
  std::string attempt = {};    // of the agent's (torchrun's), which starts lost ranks again
  std::string interface = {};  // of the network, to be used; empty: the one on the way to the host
};

// What the environment says in RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them,
// or in our own variables, set by launch_ranks. None: this process trains alone. Throws ConfigError where they do not
// say all of it, or no numbers that go together.
std::optional<RankPlace> place_from_environment();

}  // namespace attnscope
