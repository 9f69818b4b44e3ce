// The threads that compute: each takes a part of the work whole, and sleeps when there is none. OpenMP's would wait
// spinning, and stand in the way of whatever else the machine has to do.
#pragma once

#include <functional>
#include <memory>

namespace attnscope::kernels {

class ThreadPool {
 public:
  // `size` threads, the one that calls run() among them; at least 1.
  explicit ThreadPool(int size);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // Calls work(0) … work(count − 1), each once, on whichever thread is free, and returns when all are done; work(0) is
  // the caller's. While it is at work already, for whomever, the caller does all itself. An exception of the first work
  // that threw one is thrown on.
  void run(int count, const std::function<void(int)>& work);

 private:
  struct Shared;

  int size_;
  std::unique_ptr<Shared> shared_;  // none for one thread
};

// The process's; of one thread unless set otherwise.
std::shared_ptr<ThreadPool> pool();
void set_pool_size(int size);

// Calls work(0, true) … work(count − 1, …) on the process's team, as many at a time as it has threads, or one where
// `alone`; the second argument is true on the caller's thread, which alone may breathe. `done` is called after each.
void run_by_turns(std::size_t count, bool alone, const std::function<void(std::size_t index, bool callers)>& work,
                  const std::function<void(std::size_t index)>& done);

}  // namespace attnscope::kernels
