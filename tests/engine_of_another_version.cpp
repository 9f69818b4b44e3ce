// A module whose table has another version and, after it, nothing that this program could call.
namespace {

struct Table {
  const char* version;
};
constexpr Table table{"9.9.9"};

}  // namespace

extern "C" [[gnu::visibility("default")]] const void* attnscope_engine() {
  return &table;
}
