// A translation's catalogue: what it has, or what is wrong with it; and every entry can be filled in.
#include "base/translation.h"

#include <memory>
#include <stdexcept>
#include <string>

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attnscope;
  try {
    const auto catalogue = std::make_shared<Catalogue>(Catalogue::from_mo(fuzz::view(data, size)));
    speak(catalogue);
    for (const auto& [english, entry] : *catalogue) {
      fuzz::require(placeholders(english) == placeholders(entry.text));
      fuzz::require(tr(english.c_str()) != nullptr);
    }
  } catch (const std::invalid_argument&) {
  }
  speak(nullptr);
  return 0;
}
