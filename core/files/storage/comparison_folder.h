// A saved comparison: a folder with two runs and a comparison.json that names them.
#pragma once

#include <filesystem>

#include "files/storage/run_folder.h"

namespace attnscope {

struct ComparisonFolder {
  std::filesystem::path path;

  std::filesystem::path file() const { return path / "comparison.json"; }
  // The folders of the two runs of a comparison saved here.
  std::filesystem::path a() const { return path / "a"; }
  std::filesystem::path b() const { return path / "b"; }
};

// The two folders named by a comparison.
struct ComparedRuns {
  std::filesystem::path a;
  std::filesystem::path b;
};

// Returns true if `path` is a folder with a comparison.json. Never throws.
bool is_comparison(const std::filesystem::path& path);

// Throws FileError if saving a comparison in the folder would replace something else.
void check_free_for_comparison(const std::filesystem::path& path);

// comparison.json, {"version":1,"a":"a","b":"b"}: subfolders, or any paths. Both throw FileError; loading also
// RunError, naming file and field. The existence of the runs is not checked.
void save_comparison(const ComparisonFolder& folder);
ComparedRuns load_comparison(const ComparisonFolder& folder);

}  // namespace attnscope
