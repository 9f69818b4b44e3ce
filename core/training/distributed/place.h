// The place of this process among the ranks that train one run together.
#pragma once

#include <optional>
#include <string>

namespace attnscope {

struct RankPlace {
  int rank = 0;  // from 0; rank 0 saves the run
  int size = 1;  // number of ranks
  int here = 1;  // number of ranks on this machine, which share its cores
  // The rendezvous: a file if all ranks are on this machine, else a port on rank 0's machine.
  std::string file = {};
  std::string host = {};
  int port = 0;
  bool agent_listens = false;  // at that port, so rank 0 need not
  std::string attempt = {};    // restart number of the agent (torchrun), which restarts lost ranks
  std::string interface = {};  // network interface to use; empty: the one on the route to the host
};

// Reads RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as torchrun sets them, or our own variables,
// set by launch_ranks. Empty: this process trains without ranks. Throws ConfigError if some are missing or
// inconsistent.
std::optional<RankPlace> place_from_environment();

}  // namespace attnscope
