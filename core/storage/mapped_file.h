#pragma once

#include <filesystem>
#include <string_view>

namespace attnscope {

// A file's bytes as memory that is read from the disk when it is looked at, and not copied. Who shortens the file
// meanwhile ends the process: for files that are read through at once.
class MappedFile {
 public:
  // Throws FileError if it cannot be read or is no file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  std::string_view bytes() const { return bytes_; }

  // Gives back the memory of `part`, of these bytes: it is read anew when it is looked at again.
  static void release(std::string_view part);

 private:
  std::string_view bytes_;  // empty: nothing is mapped
};

}  // namespace attnscope
