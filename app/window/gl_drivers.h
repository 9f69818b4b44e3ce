#pragma once

namespace attnscope {

// Call before EGL or GLX is first used. Debian 13's LibTorch has an LLVM inside and exports its entry points
// (LLVMInitializeX86Target and others); Mesa's software renderer, which comes with an LLVM of its own, would find
// Torch's first and crash. Does nothing where there is no such LibTorch, or no Mesa.
void keep_gl_drivers_apart_from_torch();

}  // namespace attnscope
