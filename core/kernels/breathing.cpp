#include "kernels/breathing.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace attnscope::kernels {
namespace {

thread_local const Breath* wanted = nullptr;
std::atomic<int> quiets = 0;

}  // namespace

Breathing::Breathing(const Breath& breathe) {
  wanted = &breathe;
}

Breathing::~Breathing() {
  wanted = nullptr;
}

Quiet::Quiet() {
  ++quiets;
}

Quiet::~Quiet() {
  --quiets;
}

void breathe_if_wanted() {
  if (!wanted) return;
  struct Within {
    const Breath& breathe = *std::exchange(wanted, nullptr);
    ~Within() { wanted = &breathe; }
  } within;
  if (within.breathe) within.breathe();
  while (quiets > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (within.breathe) within.breathe();
  }
}

}  // namespace attnscope::kernels
