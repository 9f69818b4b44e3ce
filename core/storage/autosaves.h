// Runs that are kept though nobody saved them: a folder each, in one that belongs to the user's state. Nothing but
// runs of this kind lies there, and each is held (held_run.h) by the process that trains it: two windows never meet in
// one, and one that nobody holds was left by a process that is no more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plain/messages.h"
#include "storage/locked_run.h"

namespace attnscope {

class Autosaves {
 public:
  // Of all that nobody holds, the newest `max_runs` are left when another comes, and of these so many as have room in
  // `max_bytes`; the two newest always.
  static constexpr std::size_t max_runs = 20;
  static constexpr std::uint64_t max_bytes = std::uint64_t{8} << 30U;

  // The folder is made with the first run.
  explicit Autosaves(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // A folder for a new run, which is called like that. Throws FileError.
  LockedRun make(const std::string& run_name) const;

  bool contains(const std::filesystem::path& run) const;

  // What make() was given, as far as it could be part of a folder's name.
  static std::string run_name(const std::filesystem::path& run);

  // What nobody holds, newest first. Never throws.
  std::vector<Autosave> left() const;

  // Of a run that lies elsewhere by now, or that was never written whole. What cannot be removed stays.
  static void remove(const LockedRun& run);

 private:
  void make_room() const;

  std::filesystem::path folder_;
};

}  // namespace attnscope
