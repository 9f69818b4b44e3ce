// A module whose table has another version and, after it, nothing that this program could call. Loading it changes how
// a signal is handled, as UCX does.
#include <csignal>

namespace {

struct Table {
  const char* version;
};
constexpr Table table{"9.9.9"};

[[gnu::constructor]] void handle_signals() {
  std::signal(SIGHUP, SIG_IGN);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const void* attnscope_engine() {
  return &table;
}
