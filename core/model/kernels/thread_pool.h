// The compute threads: each takes a whole part of the work, and sleeps when there is none. OpenMP's threads would spin
// while waiting and slow down the rest of the machine.
#pragma once

#include <functional>
#include <memory>

namespace attnscope::kernels {

class ThreadPool {
 public:
  // `size` threads, including the caller of run(); at least 1.
  explicit ThreadPool(int size);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // Calls work(0) … work(count − 1) once each on any free thread, and returns when all are done; work(0) runs on the
  // caller's thread. If the pool is already busy, the caller does all the work itself. Rethrows the exception of the
  // first work item that failed.
  void run(int count, const std::function<void(int)>& work);

 private:
  struct Shared;

  int size_;
  std::unique_ptr<Shared> shared_;  // null for one thread
};

// The process-wide pool; it has one thread unless set otherwise.
std::shared_ptr<ThreadPool> pool();
void set_pool_size(int size);

// Calls work(0, true) … work(count − 1, …) on the process's thread pool, with one call per thread at a time, or
// sequentially if `alone`. The second argument is true on the caller's thread, the only one that may yield. `done` is
// called after each.
void run_by_turns(std::size_t count, bool alone, const std::function<void(std::size_t index, bool callers)>& work,
                  const std::function<void(std::size_t index)>& done);

}  // namespace attnscope::kernels
