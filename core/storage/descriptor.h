#pragma once

#include <unistd.h>

#include <utility>

namespace attnscope {

// An open file or folder, closed on the way out.
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

  // False if the last data did not reach the file (network file systems say so only here).
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;  // below 0: none
};

}  // namespace attnscope
