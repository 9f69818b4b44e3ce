// Files that can be computed again, mapped into memory: a large corpus, its tokens, its tokenizer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/descriptor.h"

namespace attnscope {

// $XDG_CACHE_HOME/attnscope, else ~/.cache/attnscope; empty if neither variable is an absolute path.
std::filesystem::path cache_folder();

// A finished file: its content, and a text that describes it. Its pages are not counted twice, however many runs and
// processes use it, and the system may drop them at any time.
class CacheFile {
 public:
  // Null if there is none, or if it is damaged; it is then removed.
  static std::shared_ptr<const CacheFile> open(const std::string& name);

  CacheFile(const char* data, std::size_t size);  // takes over a mapping
  ~CacheFile();
  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;

  std::string_view content() const { return bytes_.substr(0, content_size_); }
  const std::string& about() const { return about_; }

  template <typename T>
  std::span<const T> numbers(std::uint64_t offset, std::uint64_t count) const {
    return {reinterpret_cast<const T*>(bytes_.data() + offset), static_cast<std::size_t>(count)};
  }

  // Removes its pages from the process's memory; they are mapped again when they are next read.
  void release() const;

  bool read_end(bool checks);  // false if it is incomplete or, if it is checked, damaged

 private:
  std::string_view bytes_;
  std::size_t content_size_ = 0;
  std::string about_;
};

struct CacheEntry {
  std::filesystem::path path;
  std::string about;  // empty: incomplete or damaged
  std::uintmax_t size = 0;
  std::filesystem::file_time_type used = {};  // last
};

// The files in the cache folder, the most recently used first.
std::vector<CacheEntry> cache_entries();

// Writes a file under a temporary name; it exists once it is complete. Without a name or a folder, or if the disk is
// full, it is written to memory and exists as long as it is used.
class CacheWriter {
 public:
  explicit CacheWriter(const std::string& name);
  ~CacheWriter();
  CacheWriter(const CacheWriter&) = delete;
  CacheWriter& operator=(const CacheWriter&) = delete;

  void append(std::string_view bytes);
  template <typename T>
  std::uint64_t append_numbers(std::span<const T> numbers) {  // returns their offset
    append(std::string((8 - size_ % 8) % 8, '\0'));
    const std::uint64_t begin = size_;
    append({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
    return begin;
  }
  std::uint64_t size() const { return size_; }

  std::shared_ptr<const CacheFile> so_far();  // what was written, before it is complete
  std::shared_ptr<const CacheFile> finish(const std::string& about);

 private:
  void flush();
  bool move_to_memory();

  std::filesystem::path path_, temporary_;  // empty: in memory
  Descriptor file_{-1};
  std::string buffer_;
  std::uint64_t size_ = 0, flushed_ = 0;
  std::uint64_t checksum_ = 0;
};

// Numbers in memory, or in a mapped file.
template <typename T>
class Numbers {
 public:
  Numbers() = default;
  Numbers(std::vector<T> own) : own_(std::move(own)) {}
  Numbers(std::shared_ptr<const CacheFile> file, std::span<const T> mapped) : file_(std::move(file)), mapped_(mapped) {}

  operator std::span<const T>() const { return file_ ? mapped_ : std::span<const T>(own_); }
  std::span<const T> span() const { return *this; }
  std::size_t size() const { return span().size(); }
  bool empty() const { return size() == 0; }
  const T& operator[](std::size_t i) const { return span()[i]; }
  auto begin() const { return span().begin(); }
  auto end() const { return span().end(); }
  void push_back(T number) { own_.push_back(number); }  // not of a mapped file
  void resize(std::size_t size) { own_.resize(size); }
  bool operator==(const Numbers& other) const { return std::ranges::equal(span(), other.span()); }

 private:
  std::vector<T> own_;
  std::shared_ptr<const CacheFile> file_;
  std::span<const T> mapped_;
};

// A mixed 64-bit number of the bytes, for keys and for finding damage.
std::uint64_t checksum(std::string_view bytes, std::uint64_t state = 0);

}  // namespace attnscope
