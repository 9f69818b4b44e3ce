// Memory that is free.
#pragma once

namespace attnscope {

// Joins what is free, and gives it back to the system. Between large pieces that come and go, small ones that stay keep
// far more than they need: a thread's heap shrinks only from its end.
void give_back_memory();

// From now on what is freed is kept, up to 256 MiB at the end of a thread's heap. Who takes the same again and again,
// as updates do, would else be given each page anew, and emptied first. give_back_memory() still gives it back.
void keep_freed_memory();

}  // namespace attnscope
