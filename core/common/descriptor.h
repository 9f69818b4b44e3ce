#pragma once

#include <unistd.h>

#include <utility>

namespace attnscope {

// Owns an open file or folder; closes it in the destructor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }

  // Returns false if the last data did not reach the file (network file systems report errors only here).
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;  // negative: none
};

}  // namespace attnscope
