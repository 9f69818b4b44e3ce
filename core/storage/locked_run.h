// A run's folder in the hands of the one process that writes to it, and its checkpoints, each replaced as one unit.
//
// A checkpoint is several files, and a crash between two of them would leave the weights of one step with the moments
// of another. So all of them are written to checkpoint.tmp/ first and synced; then that folder is renamed to
// checkpoint.new/, and this one rename decides. Before it nothing has happened: checkpoint.tmp/ is thrown away. After
// it the checkpoint is what the run is, though its files have still to be moved to the places where everybody looks for
// them. Whoever holds the folder next finishes that: each move is a rename, each removal can be done twice.
//
// A manifest naming the files of the present generation would do without the moves, but then Python users no longer
// find model.safetensors in the folder; links in their place do not survive every file system that a run is copied to.
//
// metrics.jsonl alone grows in its place, for it is long and every line of it stands for itself: lines up to the step
// of a checkpoint are synced before the checkpoint is decided, and lines beyond it are cut off when the run goes on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "storage/descriptor.h"
#include "storage/run_folder.h"

namespace attnscope {

// Nobody else may write to the folder as long as this stands. The lock is the kernel's and ends with the process,
// however that ends.
class LockedRun {
 public:
  // Makes the folder (and its parents) if need be, finishes a checkpoint that was decided in it, and removes what
  // killed saves left. Throws FileError if it is no folder, nothing can be written in it, or it is held already.
  explicit LockedRun(const std::filesystem::path& path);

  const RunFolder& folder() const { return folder_; }

 private:
  RunFolder folder_;
  Descriptor lock_;
};

// For who only reads: finishes a checkpoint that was decided by a process that is no more. Does nothing if there is
// none, if somebody holds the folder (and is finishing it), or if nothing can be written there. The files are then read
// as they lie: each is whole, and what goes beyond the step of the weights is passed over.
void finish_checkpoint(const std::filesystem::path& path);

// A new generation of a held run's files. Destroyed without a commit it never was.
class Checkpoint {
 public:
  // The run must outlast it. Throws FileError.
  explicit Checkpoint(const LockedRun& run);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // Where its files are written, under the names they have in the run's folder. Those that are not written here stay as
  // they are in the run.
  const RunFolder& files() const { return files_; }

  // `file`, one of files(), is no part of the run from the commit on, unless it is written. The run need not have it.
  void remove(const std::filesystem::path& file);

  // Of the weights kept in checkpoints/, all are removed but the newest `count` of steps up to `last_step`.
  void prune_kept_weights(std::int64_t last_step, std::int64_t count);

  // All of it takes the place of what was there; or throws FileError, and the run is the old or, if the error came
  // after the decision, the new one.
  void commit();

 private:
  const RunFolder& run_;
  RunFolder files_;
  std::vector<std::filesystem::path> removed_;  // relative
};

}  // namespace attnscope
