#include "common/other_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attnscope {
namespace {

using namespace std::string_view_literals;

struct Format {
  std::string_view begins;
  const char* help;  // {0}: the path
};

constexpr std::array formats = {
    Format{"version https://git-lfs"sv,
           "a Git LFS pointer, not the file itself: fetch it with git lfs pull in its folder"},
    Format{"\x1F\x8B"sv, "compressed with gzip: unpack it with gunzip -k {0}"},
    Format{"BZh"sv, "compressed with bzip2: unpack it with bunzip2 -k {0}"},
    Format{"\xFD"
           "7zXZ"sv,
           "compressed with xz: unpack it with unxz -k {0}"},
    Format{"\x28\xB5\x2F\xFD"sv, "compressed with zstd: unpack it with unzstd {0}"},
    Format{"\xFF\xFE"sv, "text in UTF-16: convert it with iconv -f UTF-16 -t UTF-8 {0} > NEW"},
    Format{"\xFE\xFF"sv, "text in UTF-16: convert it with iconv -f UTF-16 -t UTF-8 {0} > NEW"},
    Format{"GGUF"sv,
           "a GGUF file (llama.cpp), whose weights are usually quantized: download the original model in "
           "safetensors"},
    Format{"PK\x03\x04"sv,
           "a ZIP archive or a PyTorch pickle: if it is a pickle, save its state_dict as safetensors "
           "with safetensors.torch.save_file"},
};

// Without a byte order mark: every second byte of text in Latin letters is 0.
bool looks_like_utf16(std::string_view bytes) {
  const std::size_t size = std::min<std::size_t>(bytes.size(), 64);
  if (size < 8) return false;
  for (const std::size_t first : {0U, 1U}) {
    std::size_t zeros = 0;
    for (std::size_t i = first; i < size; i += 2) zeros += bytes[i] == 0 && bytes[i ^ 1U] != 0;
    if (zeros >= size / 2 - 1) return true;
  }
  return false;
}

}  // namespace

std::string other_format(std::string_view first_bytes, const std::string& path) {
  for (const Format& format : formats)
    if (first_bytes.starts_with(format.begins)) return fmt::format(fmt::runtime(format.help), path);
  if (looks_like_utf16(first_bytes))
    return fmt::format("text in UTF-16: convert it with iconv -f UTF-16LE -t UTF-8 {} > NEW", path);
  return {};
}

}  // namespace attnscope
