// The only locks of the program. Each is held for a swap or a push; nothing is called while one is held.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace attnscope {

// Lossless, many in, all out.
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

  // Everything pushed since the last take, oldest first.
  std::vector<T> take() {
    std::vector<T> taken;
    std::lock_guard lock(mutex_);
    taken.swap(items_);
    return taken;
  }

  // As take, but waits for the first item.
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

// Latest only: a reader that is slow sees the newest value and never a backlog.
template <typename T>
class Mailbox {
 public:
  void put(std::shared_ptr<const T> value) {
    std::lock_guard lock(mutex_);
    value_.swap(value);  // the replaced value dies with the parameter, after the lock is released
  }

  std::shared_ptr<const T> get() const {
    std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

// Wakes one who waits.
class Bell {
 public:
  void ring() {
    {
      std::lock_guard lock(mutex_);
      rung_ = true;
    }
    heard_.notify_one();
  }

  // Until it has rung since the last time, or so long.
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
