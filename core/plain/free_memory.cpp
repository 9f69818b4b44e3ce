#include "plain/free_memory.h"

#include <malloc.h>

namespace attnscope {

void give_back_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace attnscope
