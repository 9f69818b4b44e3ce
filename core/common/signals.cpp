#include "common/signals.h"

#include <array>
#include <csignal>
#include <cstddef>

namespace attnscope {
namespace {

// A signal frame holds all registers, including AVX-512 and AMX: 11 KiB.
constexpr std::size_t stack_size = 64 << 10;

void give_this_thread_a_stack() {
  alignas(64) static std::array<std::byte, stack_size> memory;
  stack_t stack{};
  stack.ss_sp = memory.data();
  stack.ss_size = memory.size();
  sigaltstack(&stack, nullptr);
}

}  // namespace

SignalHandler on_signal(int signal, SignalHandler handler) {
  give_this_thread_a_stack();
  struct sigaction before = {};
  struct sigaction wanted = {};
  wanted.sa_handler = handler;
  wanted.sa_flags = SA_ONSTACK | SA_RESTART;
  sigemptyset(&wanted.sa_mask);
  sigaction(signal, &wanted, &before);
  return before.sa_handler;
}

// SIGKILL and SIGSTOP have none, and both calls fail.
KeptSignalHandlers::KeptSignalHandlers() {
  for (std::size_t signal = 1; signal < before_.size(); ++signal)
    sigaction(static_cast<int>(signal), nullptr, &before_[signal]);
}

KeptSignalHandlers::~KeptSignalHandlers() {
  for (std::size_t signal = 1; signal < before_.size(); ++signal)
    sigaction(static_cast<int>(signal), &before_[signal], nullptr);
}

}  // namespace attnscope
