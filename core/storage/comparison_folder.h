// A saved comparison: a folder with two runs and comparison.json, which names them.
#pragma once

#include <filesystem>

#include "storage/run_folder.h"

namespace attnscope {

struct ComparisonFolder {
  std::filesystem::path path;

  std::filesystem::path file() const { return path / "comparison.json"; }
  // Where the runs of a comparison are that is saved here.
  std::filesystem::path a() const { return path / "a"; }
  std::filesystem::path b() const { return path / "b"; }
};

// The two folders that a comparison names.
struct ComparedRuns {
  std::filesystem::path a;
  std::filesystem::path b;
};

// True if `path` is a folder with a comparison.json. Never throws.
bool is_comparison(const std::filesystem::path& path);

// Throws FileError if a comparison saved in the folder would replace something that is not one.
void check_free_for_comparison(const std::filesystem::path& path);

// comparison.json, {"version":1,"a":"a","b":"b"}: folders in it, or wherever else. Both throw FileError; loading also
// RunError, naming file and field. Whether the runs are there is not looked at.
void save_comparison(const ComparisonFolder& folder);
ComparedRuns load_comparison(const ComparisonFolder& folder);

}  // namespace attnscope
