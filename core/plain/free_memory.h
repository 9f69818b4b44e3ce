// Memory that is free.
#pragma once

namespace attnscope {

// Joins what is free, and gives it back to the system. Between large pieces that come and go, small ones that stay keep
// far more than they need: a thread's heap shrinks only from its end.
void give_back_memory();

}  // namespace attnscope
