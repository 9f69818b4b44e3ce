#include "files/storage/png.h"

#include <stb_image_write.h>

#include <stdexcept>

namespace attnscope {

std::string encode_png(std::span<const Color32> pixels, int width, int height) {
  std::string bytes;
  const auto append = [](void* to, void* data, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
  };
  const int row_bytes = width * static_cast<int>(sizeof(Color32));
  if (stbi_write_png_to_func(append, &bytes, width, height, 4, pixels.data(), row_bytes) == 0)
    throw std::runtime_error("the picture could not be encoded as PNG");
  return bytes;
}

}  // namespace attnscope
