// Automatic saves of runs that the user has not saved: one folder each, inside one folder of the user's state
// directory. Each is locked (locked_run.h) by the process that trains it, so two windows never share one. An unlocked
// one belongs to a process that has ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "files/storage/locked_run.h"
#include "messages/messages.h"

namespace attnscope {

class Autosaves {
 public:
  // Limits on the unlocked runs, applied when a new one is created: the newest `max_runs` that fit into `max_bytes`; at
  // least the two newest.
  static constexpr std::size_t max_runs = 20;
  static constexpr std::uint64_t max_bytes = std::uint64_t{8} << 30U;

  // The folder is created with the first run.
  explicit Autosaves(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Creates a folder for a new run of that name. Throws FileError.
  LockedRun make(const std::string& run_name) const;

  bool contains(const std::filesystem::path& run) const;

  // The name passed to make(), as far as it could be part of a folder's name.
  static std::string run_name(const std::filesystem::path& run);

  // Returns the unlocked runs, newest first. Never throws.
  std::vector<Autosave> left() const;

  // Removes a run that was saved elsewhere or never written completely. Files that cannot be removed stay.
  static void remove(const LockedRun& run);

 private:
  void make_room() const;

  std::filesystem::path folder_;
};

}  // namespace attnscope
