#include "kernels/breathing.h"

#include <utility>

namespace attnscope::kernels {
namespace {

thread_local const Breath* wanted = nullptr;

}  // namespace

Breathing::Breathing(const Breath& breathe) {
  wanted = breathe ? &breathe : nullptr;
}

Breathing::~Breathing() {
  wanted = nullptr;
}

void breathe_if_wanted() {
  if (!wanted) return;
  struct Held {
    const Breath* breathe = std::exchange(wanted, nullptr);
    ~Held() { wanted = breathe; }
  } held;
  (*held.breathe)();
}

}  // namespace attnscope::kernels
