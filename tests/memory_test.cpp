// Memory that runs out: at any allocation of an update, a look, opening, a reset or saving, that operation fails and
// says so, and the run lives. The allocations of this thread are counted, and the one that is asked for fails.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <new>
#include <string>

#include "messages/metrics.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"

namespace {

// Small allocations never fail. Lists may be larger than tensors before they count: nlohmann's json allocates lists in
// its destructor, where it could not handle an error.
constexpr std::size_t smallest_tensor = 512;
constexpr std::size_t smallest_list = 4096;

thread_local bool counting = false;
thread_local std::int64_t until_failure = 0;  // allocations; 0 or less: none fails
thread_local std::int64_t counted = 0;

bool fails(std::size_t size, std::size_t smallest) {
  if (!counting || size < smallest) return false;
  ++counted;
  return --until_failure == 0;
}

}  // namespace

// Not inlined: GCC takes what it then sees for memory of one kind that is freed as another.
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory = fails(size, smallest_list) ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (!memory) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return fails(size, smallest_list) ? nullptr : std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

// LibTorch's and oneDNN's, which find it only if it is exported.
extern "C" [[gnu::visibility("default")]] int posix_memalign(void** memory, std::size_t alignment,
                                                             std::size_t size) noexcept {
  if (fails(size, smallest_tensor)) return ENOMEM;
  *memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return *memory ? 0 : ENOMEM;
}

namespace attnscope {
namespace {

namespace fs = std::filesystem;

// How many allocations the work makes; the `failing`th fails, if it is not 0.
std::int64_t allocations(const std::function<void()>& work, std::int64_t failing = 0) {
  struct Counting {
    explicit Counting(std::int64_t failing) {
      until_failure = failing;
      counted = 0;
      counting = true;
    }
    ~Counting() { counting = false; }
  };
  const Counting scope(failing);
  work();
  return counted;
}

class MemoryTest : public testing::Test {
 protected:
  MemoryTest() {
    engine.reset(tiny_config(), {});
    for (int i = 0; i < 3; ++i) engine.train_step({});
    engine.save_run((folder / "run").string());
  }
  ~MemoryTest() override { fs::remove_all(folder); }

  // Lets every allocation of the work fail, or of many a hundred spread over them; `holds` is asked each time.
  void exhaust(const std::function<void()>& work, const std::function<void()>& holds) {
    work();  // what is made once and kept
    const std::int64_t all = allocations(work);
    ASSERT_GT(all, 0);
    const std::int64_t stride = std::max<std::int64_t>(1, all / 100);
    int failed = 0;
    for (std::int64_t failing = 1; failing <= all; failing += stride) {
      try {
        allocations(work, failing);
      } catch (const std::exception& error) {
        ++failed;
        EXPECT_STRNE(error.what(), "");
      }
      holds();
      if (HasFailure()) FAIL() << "allocation " << failing << " of " << all;
    }
    EXPECT_GT(failed, 0);
  }

  Probe question() const {
    Probe probe;
    probe.text = "a b c";
    return probe;
  }
  std::string answer() {
    std::string text;
    engine.probe(question(), [&](const auto& snapshot) { text = snapshot->output_text; }, {});
    return text;
  }

  const fs::path folder = fs::temp_directory_path() / ("attnscope-memory-" + std::to_string(::getpid()));
  TorchEngine engine;
};

TEST_F(MemoryTest, AnUpdateFailsAloneAndIsMadeAgainAsItWouldHaveBeen) {
  std::map<std::int64_t, double> told;
  const auto train = [&] {
    const MetricPoint point = engine.train_step({});
    told[point.step] = point[metric("loss")].value();
  };
  exhaust(train, [&] {
    const std::int64_t before = engine.steps_done();
    train();
    EXPECT_EQ(engine.steps_done(), before + 1);
  });
  TorchEngine uninterrupted;
  uninterrupted.reset(tiny_config(), {});
  while (uninterrupted.steps_done() < engine.steps_done()) {
    const MetricPoint point = uninterrupted.train_step({});
    if (!told.contains(point.step)) continue;
    EXPECT_EQ(told[point.step], point[metric("loss")].value()) << "step " << point.step;
  }
  engine.checkpoint();
  TorchEngine again;
  EXPECT_EQ(again.open_run((folder / "run").string(), {}).step, engine.steps_done());
}

TEST_F(MemoryTest, ALookFailsAloneAndTheNextOneSaysTheSame) {
  const std::string expected = answer();
  exhaust([&] { answer(); }, [&] { EXPECT_EQ(answer(), expected); });
}

TEST_F(MemoryTest, OpeningFailsAndThePresentRunStays) {
  const std::string saved = (folder / "run").string();
  TorchEngine other;
  exhaust([&] { other.open_run(saved, {}); }, [&] { EXPECT_EQ(other.steps_done(), 3); });
}

TEST_F(MemoryTest, AResetFailsAndThePresentRunStays) {
  exhaust([&] { engine.reset(tiny_config(), {}); }, [&] { EXPECT_GE(engine.train_step({}).step, 1); });
}

TEST_F(MemoryTest, SavingFailsAndWhatWasSavedStaysWhole) {
  const std::string saved = (folder / "run").string();
  exhaust(
      [&] {
        engine.train_step({});
        engine.checkpoint();
      },
      [&] {
        TorchEngine other;
        const std::int64_t step = other.open_run(saved, {}).step;
        EXPECT_GE(step, 3);
        EXPECT_LE(step, engine.steps_done());
      });
}

}  // namespace
}  // namespace attnscope
