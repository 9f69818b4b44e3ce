// An experiment as data: a configuration to train, the view that shows it, and the card that describes it. Read from
// the file experiment.json of its folder; assets/manual/experiments.md describes the format.
#pragma once

#include <string>
#include <string_view>

#include "config/config.h"
#include "lessons/lesson.h"

namespace attnscope {

inline constexpr const char* experiment_file = "experiment.json";
inline constexpr std::size_t most_experiment_bytes = std::size_t{1} << 20U;

struct Experiment {
  std::string name;    // of its folder
  std::string folder;  // its path
  int place = 0;       // in the gallery, ascending
  Words title, text;   // of its card
  Words duration;      // from random weights to the result
  std::string figure;  // paper and section of the figure that it reproduces
  Config config;
  std::string view;      // as in view_names()
  std::string sentence;  // entered when it begins; empty: unchanged
  std::string lesson;    // name of a lesson about it, in its folder or another one; empty: there is none
  bool has_own_lesson = false;  // the lesson was read from the folder
};

struct ExperimentRead {
  Experiment experiment;
  std::string complaint;  // the error and its field; empty: none
};

// The file of its lesson, if that is in its folder. Without a section [run] such a lesson starts with the experiment's
// configuration.
std::string lesson_file_of(const Experiment& experiment);

// `path`: of the file. A corpus that begins with "./" is a file in the same folder.
ExperimentRead read_experiment(std::string_view json, const std::string& path);

}  // namespace attnscope
