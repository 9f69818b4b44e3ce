// The window's settings: reading never throws, and settings that were written are read back.
#include "window/settings.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  const auto path = fuzz::file("settings.json", fuzz::view(data, size));
  const SettingsRead read = read_settings(path);
  write_settings(fuzz::folder() / "again.json", read.settings);
  fuzz::require(read_settings(fuzz::folder() / "again.json").complaint.empty());
  for (const auto& entry : std::filesystem::directory_iterator(fuzz::folder())) std::filesystem::remove(entry.path());
  return 0;
}
