// The picture of the frame before, for the next one to change.
#pragma once

namespace attnscope {

// OpenGL's names.
struct Framebuffer {
  unsigned name = 0, color = 0;
};

// Made and bound, of 8 bits a colour. Throws std::runtime_error.
Framebuffer make_framebuffer(int width, int height);

// A framebuffer of our own: what is in a window's after it was shown is undefined. Needs a current OpenGL context from
// the first begin() to its destruction.
class KeptPicture {
 public:
  KeptPicture() = default;
  ~KeptPicture();
  KeptPicture(const KeptPicture&) = delete;
  KeptPicture& operator=(const KeptPicture&) = delete;

  // From here on it is drawn into. False: it was made anew in this size, and holds nothing.
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
