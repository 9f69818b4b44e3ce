#include "window/gl_drivers.h"

#include <dlfcn.h>

#include <initializer_list>

namespace attnscope {

void keep_gl_drivers_apart_from_torch() {
  if (dlsym(RTLD_DEFAULT, "LLVMInitializeX86Target") == nullptr) return;
  // Loaded now, the drivers look into their own libraries before the program's; whoever opens them later gets these.
  for (const char* driver : {"libGLX_mesa.so.0", "libEGL_mesa.so.0"}) dlopen(driver, RTLD_NOW | RTLD_DEEPBIND);
}

}  // namespace attnscope
