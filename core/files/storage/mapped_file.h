#pragma once

#include <filesystem>
#include <string_view>

namespace attnscope {

// A memory-mapped file, read from disk on access and not copied. If another process truncates it, an access terminates
// this process: use it for files that are read at once.
class MappedFile {
 public:
  // Throws FileError if the file cannot be read or is not a regular file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  std::string_view bytes() const { return bytes_; }

  // Releases the memory of `part`, a part of these bytes: it is read again at the next access.
  static void release(std::string_view part);

 private:
  std::string_view bytes_;  // empty: nothing is mapped
};

}  // namespace attnscope
