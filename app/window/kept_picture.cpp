#include "window/kept_picture.h"

#include <GL/gl.h>
#include <GL/glext.h>

#include <stdexcept>

namespace attnscope {

Framebuffer make_framebuffer(int width, int height) {
  Framebuffer buffer;
  const auto fail = [&buffer] {
    glDeleteFramebuffers(1, &buffer.name);
    glDeleteRenderbuffers(1, &buffer.color);
    throw std::runtime_error("OpenGL cannot create a framebuffer of that size");
  };
  glGenFramebuffers(1, &buffer.name);
  glBindFramebuffer(GL_FRAMEBUFFER, buffer.name);
  glGenRenderbuffers(1, &buffer.color);
  glBindRenderbuffer(GL_RENDERBUFFER, buffer.color);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, buffer.color);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) fail();
  return buffer;
}

KeptPicture::~KeptPicture() {
  release();
}

bool KeptPicture::begin(int width, int height) {
  glGetIntegerv(GL_FRAMEBUFFER_BINDING, &target_);
  if (buffer_.name != 0 && width == width_ && height == height_) {
    glBindFramebuffer(GL_FRAMEBUFFER, buffer_.name);
    return true;
  }
  release();
  width_ = width;
  height_ = height;
  try {
    buffer_ = make_framebuffer(width, height);
  } catch (const std::runtime_error&) {  // too large for the driver: every frame is drawn as a whole
    release();
    glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(target_));
  }
  return false;
}

void KeptPicture::show() {
  if (buffer_.name == 0) return;
  glBindFramebuffer(GL_READ_FRAMEBUFFER, buffer_.name);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(target_));
  glDisable(GL_SCISSOR_TEST);
  glBlitFramebuffer(0, 0, width_, height_, 0, 0, width_, height_, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(target_));
}

void KeptPicture::release() {
  glDeleteFramebuffers(1, &buffer_.name);
  glDeleteRenderbuffers(1, &buffer_.color);
  buffer_ = {};
}

}  // namespace attnscope
