// A run's folder locked by the one process that writes to it, and its checkpoints, each replaced as a unit.
//
// A checkpoint is several files. A crash between two of them would mix the weights of one step with the moments of
// another. So all files are written to checkpoint.tmp/ and synced; then the folder is renamed to checkpoint.new/. This
// single rename commits. Before it nothing has changed, and checkpoint.tmp/ is discarded. After it the checkpoint is
// the run, although its files still have to be moved to their usual places. The next process that locks the folder
// finishes the moves: each is a rename, and each removal can be repeated.
//
// A manifest naming the files of the present generation would avoid the moves, but then Python users would not find
// model.safetensors in the folder. Links do not survive on every file system to which a run is copied.
//
// Only metrics.jsonl grows in place, because it is long and its lines are independent. Lines up to a checkpoint's step
// are synced before the commit; lines beyond it are removed when the run continues.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/descriptor.h"
#include "files/storage/run_folder.h"

namespace attnscope {

// No other process may write to the folder while this object exists. The kernel holds the lock and releases it however
// the process ends.
class LockedRun {
 public:
  // Creates the folder (and its parents) if needed, finishes a committed checkpoint, and removes leftovers of killed
  // saves. Throws FileError if it is not a folder, is not writable, or is already locked.
  explicit LockedRun(const std::filesystem::path& path);

  const RunFolder& folder() const { return folder_; }

  // The lock is on the folder, not on its name. Returns where the folder is now, also if it was renamed; none: it was
  // removed, or another file system holds it.
  std::optional<std::filesystem::path> place() const;
  // Uses the folder at that place(), which is the same folder under another name.
  void follow(const std::filesystem::path& place) { folder_.path = place; }

 private:
  RunFolder folder_;
  Descriptor lock_;
};

// For readers: finishes a checkpoint committed by a process that has ended. Does nothing if there is none, if the
// folder is locked (its owner is finishing it), or if it is not writable. The files can be read either way: each is
// complete, and data beyond the step of the weights is ignored.
void finish_checkpoint(const std::filesystem::path& path);

// A new generation of a locked run's files. Destroying it without a commit discards it.
class Checkpoint {
 public:
  // The run must outlive it. Throws FileError.
  explicit Checkpoint(const LockedRun& run);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // The paths to write its files to, with the names of the run's folder. Files not written here stay unchanged in the
  // run.
  const RunFolder& files() const { return files_; }
  // The run's folder, where they are after the commit.
  const RunFolder& run() const { return run_; }

  // Removes `file`, one of files(), from the run at the commit unless it is written. It need not exist.
  void remove(const std::filesystem::path& file);

  // Removes the checkpoints in checkpoints/, except the newest `count` of steps up to `last_step`.
  void prune_kept_weights(std::int64_t last_step, std::int64_t count);

  // Replaces the run's files, if the run is still in its place; or throws FileError, and the run is the old one or, if
  // the error occurred after the commit, the new one.
  void commit();

 private:
  const LockedRun& held_;
  const RunFolder& run_;
  RunFolder files_;
  std::vector<std::filesystem::path> removed_;  // relative paths
};

}  // namespace attnscope
