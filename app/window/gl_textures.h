// Pictures of numbers on the GPU. Thumbnails share textures: beginning a draw call with another one takes longer than
// drawing a thumbnail.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/textures.h"

namespace attnscope {

// Needs a current OpenGL context from its first picture to its destruction.
class GlTextures : public TextureStore {
 public:
  GlTextures() = default;
  ~GlTextures() override;
  GlTextures(const GlTextures&) = delete;
  GlTextures& operator=(const GlTextures&) = delete;

  TexturePart texture(std::uint64_t key, std::uint64_t version, int width, int height, Sharing sharing,
                      const Fill& fill) override;
  void end_frame() override;

  // The textures that were made or changed in this frame.
  const std::set<TextureId>& redrawn() const { return redrawn_; }

 private:
  // A texture of columns × columns places of one size.
  struct Sheet {
    int width = 0;
    int height = 0;
    int columns = 1;
    std::set<int> free;  // places
  };
  struct Entry {
    unsigned sheet = 0;  // OpenGL's name of it
    int place = 0;
    std::uint64_t version = 0;
    int width = 0;
    int height = 0;
    std::uint64_t asked = 0;  // the frame that last asked for it
  };

  static Sheet sheet_for(int width, int height, Sharing sharing);
  void settle(Entry& entry, int width, int height, Sharing sharing);
  void leave(const Entry& entry);
  void send(const Entry& entry, const Fill& fill);
  TexturePart part_of(const Entry& entry) const;

  std::map<unsigned, Sheet> sheets_;  // by OpenGL's names
  std::map<std::uint64_t, Entry> entries_;
  std::set<TextureId> redrawn_;
  std::vector<std::uint32_t> pixels_;  // scratch, kept for its memory
  std::uint64_t frame_ = 0;
};

}  // namespace attnscope
