// Management of freed memory.
#pragma once

namespace attnscope {

// Returns free memory to the system. A thread's heap shrinks only from its end, so small live allocations between freed
// large ones hold on to far more than they need.
void give_back_memory();

// Retains freed memory from now on, up to 256 MiB at the end of a thread's heap. Training steps allocate the same sizes
// again and again; otherwise every page would be mapped and zeroed again. give_back_memory() still returns it.
void keep_freed_memory();

}  // namespace attnscope
