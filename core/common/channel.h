// The only locks of the program. Each is held for a swap or a push; no function is called under a lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace attnscope {

// A lossless queue with many producers; the consumer takes all items at once.
template <typename T>
class Queue {
 public:
  void push(T item) {
    {
      std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    arrived_.notify_one();
  }

  // Returns everything pushed since the last take, oldest first.
  std::vector<T> take() {
    std::vector<T> taken;
    std::lock_guard lock(mutex_);
    taken.swap(items_);
    return taken;
  }

  // Like take, but waits for the first item.
  std::vector<T> wait() {
    std::vector<T> taken;
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !items_.empty(); });
    taken.swap(items_);
    return taken;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<T> items_;
};

// Holds only the latest value: a slow reader sees the newest one and never a backlog.
template <typename T>
class Mailbox {
 public:
  void put(std::shared_ptr<const T> value) {
    std::lock_guard lock(mutex_);
    value_.swap(value);  // the replaced value is destroyed with the parameter, after the lock is released
  }

  std::shared_ptr<const T> get() const {
    std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

// Wakes one waiting thread.
class Bell {
 public:
  void ring() {
    {
      std::lock_guard lock(mutex_);
      rung_ = true;
    }
    heard_.notify_one();
  }

  // Waits until it has rung since the last wait, or until the timeout.
  void wait_for(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    heard_.wait_for(lock, most, [this] { return rung_; });
    rung_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable heard_;
  bool rung_ = false;
};

}  // namespace attnscope
