#include "model/kernels/yielding.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace attnscope::kernels {
namespace {

thread_local const YieldCallback* wanted = nullptr;
std::atomic<int> holds = 0;

}  // namespace

Yielding::Yielding(const YieldCallback& yield) {
  wanted = &yield;
}

Yielding::~Yielding() {
  wanted = nullptr;
}

void hold_yielding(bool hold) {
  holds += hold ? 1 : -1;
}

void yield_if_requested() {
  if (!wanted) return;
  struct Within {
    const YieldCallback& yield = *std::exchange(wanted, nullptr);
    ~Within() { wanted = &yield; }
  } within;
  if (within.yield) within.yield();
  while (holds > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (within.yield) within.yield();
  }
}

}  // namespace attnscope::kernels
