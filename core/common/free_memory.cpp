#include "common/free_memory.h"

#include <malloc.h>

namespace attnscope {

void give_back_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest allowed; larger blocks have their own pages
#endif
}

}  // namespace attnscope
