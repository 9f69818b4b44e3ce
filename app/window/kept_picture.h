// Retains the previous frame's picture, so that the next frame only redraws changes.
#pragma once

namespace attnscope {

// OpenGL object names.
struct Framebuffer {
  unsigned name = 0, color = 0;
};

// Creates and binds it, with 8 bits per color. Throws std::runtime_error.
Framebuffer make_framebuffer(int width, int height);

// A framebuffer of our own, because a window's framebuffer is undefined after it was shown. Needs a current OpenGL
// context from the first begin() to the destructor.
class KeptPicture {
 public:
  KeptPicture() = default;
  ~KeptPicture();
  KeptPicture(const KeptPicture&) = delete;
  KeptPicture& operator=(const KeptPicture&) = delete;

  // Makes it the draw target. False: it was newly created in this size and is empty, or it cannot be that large, and
  // the present target is used.
  bool begin(int width, int height);

  // Copies it into the framebuffer that was bound at begin(), and binds that again.
  void show();

 private:
  void release();

  Framebuffer buffer_;
  int target_ = 0;
  int width_ = 0, height_ = 0;
};

}  // namespace attnscope
