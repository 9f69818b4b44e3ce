// A run as TensorBoard's log folder, read back by a reader of the test's own.
#include <gmock/gmock.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <map>
#include <numeric>

#include "commands/commands.h"
#include "files/storage/file.h"
#include "messages/engine.h"
#include "messages/metrics.h"
#include "protobuf_reader.h"
#include "engine/torch_engine.h"
#include "run_fixture.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// CRC-32C by polynomial division, a bit at a time.
std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t rest = ~0U;
  for (const char c : bytes) {
    rest ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) rest = rest % 2 == 1 ? rest / 2 ^ 0x82F63B78U : rest / 2;
  }
  const std::uint32_t crc = ~rest;
  return (crc >> 15 | crc << 17) + 0xa282ead8U;
}

struct Written {
  std::int64_t step;
  Wire value;
};

std::multimap<std::string, Written> events_of(const std::string& bytes) {
  std::multimap<std::string, Written> events;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = little(bytes, at, 8);
    EXPECT_EQ(little(bytes, at + 8, 4), checksum(std::string_view(bytes).substr(at, 8)));
    const std::string_view data = std::string_view(bytes).substr(at + 12, size);
    EXPECT_EQ(little(bytes, at + 12 + size, 4), checksum(data));
    const Wire event(data);
    if (at == 0) {
      EXPECT_EQ(event.one(3), "brain.Event:2");
    } else {
      const Wire value(Wire(event.one(5)).one(1));
      events.emplace(value.one(1), Written{event.whole(2), value});
    }
    at += 16 + size;
  }
  return events;
}

class TensorBoard : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-tensorboard-" + std::to_string(::getpid()));
  fs::path out = folder / "out";

  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
};

TEST(EventFile, TheChecksumIsThatOfTheStandard) {
  // RFC 3720, B.4: 32 bytes of nought have 8A9136AA.
  const std::uint32_t crc = 0x8A9136AA;
  EXPECT_EQ(checksum(std::string(32, '\0')), (crc >> 15 | crc << 17) + 0xa282ead8U);
}

TEST_F(TensorBoard, ALogFolderHoldsWhatTheRunLearned) {
  Config config = tiny_config();
  config.training.kept_checkpoints = 2;
  config.training.checkpoint_interval = 4;
  TorchEngine engine;
  engine.reset(config, {});
  engine.save_run((folder / "run").string());
  engine.history().pin("a b c");
  record_pinned(engine, {}, {});
  for (int i = 0; i < 10; ++i) {
    engine.train_step({});
    engine.checkpoint_if_due();
  }
  record_pinned(engine, {}, {});
  engine.save_run((folder / "run").string());

  ExportOptions options;
  options.run = (folder / "run").string();
  options.format = "tensorboard";
  options.folder = out.string();
  testing::internal::CaptureStderr();
  EXPECT_EQ(export_run(options), 0);
  testing::internal::GetCapturedStderr();

  std::string file;
  for (const auto& entry : fs::directory_iterator(out))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) file = entry.path().string();
  const auto events = events_of(read_file(file, 1U << 28U));
  const auto losses = events.equal_range("training/loss");
  std::int64_t step = 0;
  for (auto it = losses.first; it != losses.second; ++it) {
    EXPECT_EQ(it->second.step, ++step);
    EXPECT_FLOAT_EQ(it->second.value.small(2), static_cast<float>(*engine.metrics()[step - 1][metric("loss")]));
  }
  EXPECT_EQ(step, 10);
  EXPECT_EQ(events.count("training/validation_nll"), 2U);

  const std::string table = "weights/embedding.weight";
  EXPECT_GE(events.count(table), 2U) << "at kept steps, too";
  auto newest = events.equal_range(table).second;
  const Written& spread = (--newest)->second;
  const Wire histogram(spread.value.one(5));
  const torch::Tensor weights = engine.model().embedding_rows(EmbeddingMatrix::source).to(torch::kFloat64);
  EXPECT_EQ(spread.step, 10);
  EXPECT_NEAR(histogram.real(1), weights.min().item<double>(), 1e-6);
  EXPECT_NEAR(histogram.real(2), weights.max().item<double>(), 1e-6);
  EXPECT_EQ(histogram.real(3), static_cast<double>(weights.numel()));
  EXPECT_NEAR(histogram.real(4), weights.sum().item<double>(), 1e-3);
  EXPECT_NEAR(histogram.real(5), weights.square().sum().item<double>(), 1e-3);
  const std::vector<double> limits = histogram.reals(6), bins = histogram.reals(7);
  ASSERT_EQ(limits.size(), bins.size());
  EXPECT_TRUE(std::ranges::is_sorted(limits));
  EXPECT_EQ(std::accumulate(bins.begin(), bins.end(), 0.0), histogram.real(3));
  EXPECT_GE(events.count("gradients/embedding.weight"), 1U);

#ifdef ATTNSCOPE_GUI
  const auto pictures = events.equal_range("attention/encoder 1/a b c");
  EXPECT_EQ(std::distance(pictures.first, pictures.second), 2) << "a frame at the beginning, one at the end";
  const Wire picture(pictures.first->second.value.one(4));
  EXPECT_THAT(picture.one(4), testing::StartsWith("\x89PNG"));
  const std::string width(picture.one(4).substr(16, 4));  // big-endian
  EXPECT_EQ(little(std::string(width.rbegin(), width.rend()), 0, 4), static_cast<std::uint64_t>(picture.whole(2)));
  EXPECT_EQ(picture.whole(3), 4);
#endif

  const std::string projector = read_file(out / "projector_config.pbtxt", 1U << 20U);
  EXPECT_THAT(projector, testing::AllOf(HasSubstr("tensor_path: \"source.tsv\""), HasSubstr("metadata.tsv")));
  const auto lines = [&](const char* name) {
    const std::string text = read_file(out / name, 1U << 26U);
    return std::ranges::count(text, '\n');
  };
  EXPECT_EQ(lines("source.tsv"), engine.tokenizer().vocab_size());
  EXPECT_EQ(lines("metadata.tsv"), engine.tokenizer().vocab_size() + 1) << "with a row of names";
}

}  // namespace
}  // namespace attnscope
