// Experiments as folders: the shipped ones and the user's own.
#pragma once

#include <string>
#include <vector>

#include "lessons/experiment.h"

namespace attnscope {

struct ExperimentFiles {
  std::vector<Experiment> experiments;  // in display order
  std::vector<std::string> complaints;
};

// All folders in <assets>/experiments and <settings>/experiments.
ExperimentFiles find_experiments();

}  // namespace attnscope
