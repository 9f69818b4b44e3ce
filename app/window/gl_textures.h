// Heat maps as GPU textures. Thumbnails share textures, because switching textures between draw calls takes longer than
// drawing a thumbnail.
#pragma once

#include <climits>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/textures.h"

namespace attnscope {

// Needs a current OpenGL context from the first picture to the destructor.
class GlTextures : public TextureStore {
 public:
  GlTextures() = default;
  ~GlTextures() override;
  GlTextures(const GlTextures&) = delete;
  GlTextures& operator=(const GlTextures&) = delete;

  TexturePart texture(std::uint64_t key, std::uint64_t version, int width, int height, Sharing sharing,
                      const Fill& fill) override;
  void end_frame() override;

  // Uploads what changed, with one call per texture: call before drawing.
  void upload();

  // The textures that were created or changed in this frame.
  const std::set<TextureId>& redrawn() const { return redrawn_; }

 private:
  // A texture with columns × columns slots of one size.
  struct Sheet {
    int width = 0;
    int height = 0;
    int columns = 1;
    std::set<int> free;                 // slots
    std::vector<std::uint32_t> pixels;  // of a shared texture
    int first_changed = INT_MAX, end_changed = 0;  // rows that are not uploaded yet
  };
  struct Entry {
    unsigned sheet = 0;  // OpenGL texture name
    int place = 0;
    std::uint64_t version = 0;
    int width = 0;
    int height = 0;
    std::uint64_t asked = 0;  // the last frame that used it
  };

  static Sheet sheet_for(int width, int height, Sharing sharing);
  void settle(Entry& entry, int width, int height, Sharing sharing);
  void leave(const Entry& entry);
  void send(const Entry& entry, const Fill& fill);
  TexturePart part_of(const Entry& entry) const;

  std::map<unsigned, Sheet> sheets_;  // by OpenGL texture name
  std::map<std::uint64_t, Entry> entries_;
  std::set<TextureId> redrawn_;
  std::vector<std::uint32_t> pixels_;  // scratch, reused to avoid allocations
  std::uint64_t frame_ = 0;
};

}  // namespace attnscope
