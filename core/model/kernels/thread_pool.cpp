#include "model/kernels/thread_pool.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace attnscope::kernels {

struct ThreadPool::Shared {
  std::mutex mutex;
  std::condition_variable woken, finished;
  const std::function<void(int)>* work = nullptr;
  std::vector<std::exception_ptr> errors;
  int next = 0, count = 0, running = 0;
  bool busy = false, quit = false;
  std::vector<std::thread> threads;

  // Takes the next work item and runs it without holding the lock.
  void do_next(std::unique_lock<std::mutex>& lock) {
    const int index = next++;
    ++running;
    const auto* const doing = work;
    lock.unlock();
    std::exception_ptr error;
    try {
      (*doing)(index);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    errors[index] = error;
    --running;
  }

  void live() {
    at::set_num_threads(1);  // for this thread's products: OpenMP stores the number per thread
    std::unique_lock lock(mutex);
    while (true) {
      woken.wait(lock, [&] { return quit || next < count; });
      if (quit) return;
      while (next < count) do_next(lock);
      if (running == 0) finished.notify_all();
    }
  }
};

ThreadPool::ThreadPool(int size) : size_(std::max(1, size)) {
  if (size_ == 1) return;
  shared_ = std::make_unique<Shared>();
  for (int i = 1; i < size_; ++i) shared_->threads.emplace_back([shared = shared_.get()] { shared->live(); });
}

ThreadPool::~ThreadPool() {
  if (!shared_) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->quit = true;
  }
  shared_->woken.notify_all();
  for (std::thread& thread : shared_->threads) thread.join();
}

void ThreadPool::run(int count, const std::function<void(int)>& work) {
  if (!shared_ || count <= 1) {
    for (int i = 0; i < count; ++i) work(i);
    return;
  }
  std::unique_lock lock(shared_->mutex);
  if (shared_->busy) {
    lock.unlock();
    for (int i = 0; i < count; ++i) work(i);
    return;
  }
  shared_->busy = true;
  shared_->work = &work;
  shared_->errors.assign(count, nullptr);
  shared_->next = 0;
  shared_->count = count;
  shared_->woken.notify_all();
  while (shared_->next < shared_->count) shared_->do_next(lock);
  shared_->finished.wait(lock, [&] { return shared_->running == 0; });
  shared_->next = shared_->count = 0;
  shared_->busy = false;
  const std::vector<std::exception_ptr> errors = std::move(shared_->errors);
  lock.unlock();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

namespace {

std::mutex pool_mutex;

std::shared_ptr<ThreadPool>& current_pool() {
  static auto present = std::make_shared<ThreadPool>(1);
  return present;
}

}  // namespace

std::shared_ptr<ThreadPool> pool() {
  const std::lock_guard lock(pool_mutex);
  return current_pool();
}

void set_pool_size(int size) {
  const std::lock_guard lock(pool_mutex);
  if (current_pool()->size() != std::max(1, size)) current_pool() = std::make_shared<ThreadPool>(size);
}

void run_by_turns(std::size_t count, bool alone, const std::function<void(std::size_t index, bool callers)>& work,
                  const std::function<void(std::size_t index)>& done) {
  const std::shared_ptr<ThreadPool> shared = pool();
  const std::size_t at_once = alone ? 1 : static_cast<std::size_t>(shared->size());
  for (std::size_t first = 0; first < count; first += at_once) {
    const std::size_t now = std::min(at_once, count - first);
    shared->run(static_cast<int>(now), [&](int i) { work(first + static_cast<std::size_t>(i), i == 0); });
    for (std::size_t i = first; i < first + now; ++i) done(i);
  }
}

}  // namespace attnscope::kernels
