// Shared by all targets: bytes as a file, and the errors that a reader may throw.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace attnscope::fuzz {

// A folder of this process's own, in memory where the system has such a place.
inline const std::filesystem::path& folder() {
  static const std::filesystem::path path = [] {
    const std::filesystem::path memory = "/dev/shm";
    const auto parent = std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
    const auto made = parent / ("attnscope-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directories(made);
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return made;
  }();
  return path;
}

inline std::filesystem::path file(const char* name, std::string_view bytes) {
  const std::filesystem::path path = folder() / name;
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

inline std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A condition that must hold for every input.
inline void require(bool holds) {
  if (!holds) std::abort();
}

// The reader's errors have something to say, in no more than a screen; any other exception is a finding.
template <typename... Errors, typename Read>
void reading(const Read& read) {
  const auto heard = [](const std::exception& error) {
    const std::string_view message = error.what();
    require(!message.empty() && message.size() < 4000);
  };
  try {
    read();
  } catch (const std::exception& error) {
    if (!(... || (dynamic_cast<const Errors*>(&error) != nullptr))) throw;
    heard(error);
  }
}

}  // namespace attnscope::fuzz
