#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "common/cache.h"
#include "files/storage/file.h"
#include "files/storage/locked_run.h"
#include "files/storage/mapped_file.h"
#include "files/storage/run_folder.h"
#include "files/storage/safetensors.h"
#include "full_disk.h"
#include "messages/metrics.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

// A folder of its own for each test, gone afterwards.
class Folder : public testing::Test {
 protected:
  Folder() {
    std::string name = (fs::temp_directory_path() / "attnscope-storage-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() override {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  fs::path at(const std::string& name) const { return path_ / name; }

  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(path_)) found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

  void put(const std::string& name, std::string_view bytes) const {
    std::ofstream(at(name), std::ios::binary) << bytes;
  }

  std::string get(const std::string& name) const { return read_file(at(name), 1 << 20); }

 private:
  fs::path path_;
};

// The message of the `Error` that `body` throws; fails if it throws none.
template <typename Error, typename Body>
std::string message_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

// ---- files

class File : public Folder {};

TEST_F(File, WritesAndReadsBack) {
  const std::string bytes("a\0b\n\xff", 5);
  write_file(at("file"), bytes);
  EXPECT_EQ(get("file"), bytes);
  write_file(at("file"), "");
  EXPECT_EQ(get("file"), "");
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(File, LeavesTheOldFileWhenTheDiskIsFull) {
  write_file(at("file"), "old");
  {
    const FullDisk full(4096);
    const std::string message = message_of<FileError>([&] { write_file(at("file"), std::string(100'000, 'x')); });
    EXPECT_THAT(message, HasSubstr(at("file").string()));
    EXPECT_THAT(message, HasSubstr(std::strerror(EFBIG)));
  }
  EXPECT_EQ(get("file"), "old");
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(File, SaysWhereItCannotWrite) {
  put("plain", "");
  EXPECT_THAT(message_of<FileError>([&] { write_file(at("plain") / "file", "x"); }),
              testing::AllOf(HasSubstr("plain/file"), HasSubstr(std::strerror(ENOTDIR))));
  EXPECT_THAT(message_of<FileError>([&] { write_file(at("absent") / "file", "x"); }), HasSubstr(std::strerror(ENOENT)));
  fs::create_directory(at("folder"));
  EXPECT_THROW(write_file(at("folder"), "x"), FileError);
  EXPECT_THAT(names(), ElementsAre("folder", "plain"));
}

TEST_F(File, SaysWhatItCannotRead) {
  EXPECT_THAT(message_of<FileError>([&] { read_file(at("absent"), 10); }), HasSubstr("absent"));
  EXPECT_THROW(read_file(at("."), 10), FileError);
  put("file", "0123456789");
  EXPECT_EQ(read_file(at("file"), 10), "0123456789");
  EXPECT_THROW(read_file(at("file"), 9), FileError);
  EXPECT_THAT(message_of<FileError>([&] { read_file("/dev/zero", 1000); }), HasSubstr("not a file"));
  // Which would otherwise be waited for until somebody writes to it.
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_THAT(message_of<FileError>([&] { read_file(at("pipe"), 10); }), HasSubstr("a pipe, not a file"));
}

TEST_F(File, IsMappedWithoutBeingCopied) {
  put("a", "12345");
  MappedFile mapped(at("a"));
  EXPECT_EQ(mapped.bytes(), "12345");
  const MappedFile moved(std::move(mapped));
  EXPECT_EQ(moved.bytes(), "12345");
  put("empty", "");
  EXPECT_EQ(MappedFile(at("empty")).bytes(), "");
  EXPECT_THAT(message_of<FileError>([&] { MappedFile{at("absent")}; }), HasSubstr("absent: No such file"));
  EXPECT_THAT(message_of<FileError>([&] { MappedFile{at(".")}; }), HasSubstr("it is not a file"));
}

TEST_F(File, IsSetAsideUnderANameThatIsFree) {
  for (const char* content : {"first", "second", "third"}) {
    put("file", content);
    EXPECT_EQ(read_file(set_aside(at("file")), 10), content);
  }
  EXPECT_THAT(names(), ElementsAre("file.broken", "file.broken.2", "file.broken.3"));
  EXPECT_THROW(set_aside(at("file")), FileError);
}

// A folder of somebody else's could lead a write anywhere.
TEST_F(File, FollowsNoLinkAndReplacesNoDevice) {
  put("file", "old");
  fs::create_symlink("file", at("link"));
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  for (const auto& [name, kind] : {std::pair{"link", "a link"}, std::pair{"pipe", "a pipe"}}) {
    EXPECT_THAT(message_of<FileError>([&] { write_file(at(name), "new"); }), HasSubstr(at(name).string()));
    EXPECT_THAT(message_of<FileError>([&] { append_file(at(name), "new"); }), HasSubstr(kind));
  }
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_TRUE(fs::is_fifo(at("pipe")));
  EXPECT_EQ(get("file"), "old");
  EXPECT_THAT(names(), testing::UnorderedElementsAre("file", "link", "pipe"));
}

// The file that only tells whether anything can be written is no way out of the folder either.
TEST_F(File, AFoldersTrialIsWrittenThroughNoLink) {
  put("victim", "mine");
  fs::create_directories(at("run"));
  fs::create_symlink(at("victim"), at("run") / ".attnscope-probe");
  EXPECT_THROW(check_writable_run_folder(at("run")), FileError);
  EXPECT_EQ(get("victim"), "mine");
}

// ---- safetensors

std::string little_endian(std::uint64_t number) {
  return {reinterpret_cast<const char*>(&number), 8};
}

// A file with this header, unpadded, and these data.
std::string file_with(const std::string& header, const std::string& data) {
  return little_endian(header.size()) + header + data;
}

Safetensors example() {
  Safetensors contents;
  contents.metadata = {{"format", "pt"}, {"step", "12"}, {"naïve \"key\"", "\n"}};
  contents.tensors = {
      {"a.weight", Dtype::F64, {2}, std::string(16, '\x01')},    {"empty", Dtype::F32, {0, 3}, ""},
      {"b.weight", Dtype::F32, {2, 3}, std::string(24, '\x02')}, {"scalar", Dtype::F32, {}, std::string(4, '\x03')},
      {"half", Dtype::BF16, {1, 1, 3}, std::string(6, '\x04')},  {"mask", Dtype::BOOL, {3}, std::string("\0\1\0", 3)},
  };
  return contents;
}

TEST(Safetensors, GivesBackWhatWasWritten) {
  const Safetensors read = parse_safetensors(serialize(example()));
  EXPECT_EQ(read.metadata, example().metadata);
  ASSERT_EQ(read.tensors.size(), example().tensors.size());
  for (const TensorBytes& tensor : example().tensors) EXPECT_EQ(read.at(tensor.name), tensor);
  EXPECT_EQ(parse_safetensors(serialize({})), Safetensors{});
}

TEST(Safetensors, IsLookedAtWithoutBeingCopied) {
  const std::string bytes = serialize({{}, {{"a", Dtype::F32, {2}, "12345678"}, {"b", Dtype::F16, {}, "90"}}});
  const std::vector<TensorView> views = safetensors_views(bytes, "here");
  ASSERT_EQ(views.size(), 2U);
  EXPECT_EQ(views[0].name, "a");
  EXPECT_THAT(views[0].shape, ElementsAre(2));
  EXPECT_EQ(views[0].bytes.data(), bytes.data() + bytes.size() - 10);
  EXPECT_EQ(views[1].bytes, "90");
  EXPECT_THAT(message_of<SafetensorsError>([&] { safetensors_views(bytes.substr(0, bytes.size() - 1), "here"); }),
              HasSubstr("here: "));
}

TEST(Safetensors, KnowsEveryDtype) {
  const std::vector<std::pair<std::string, std::size_t>> widths = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2},
                                                                   {"I64", 8}, {"I32", 4}, {"I16", 2}, {"I8", 1},
                                                                   {"U8", 1},  {"BOOL", 1}};
  for (const auto& [name, width] : widths) {
    const std::string header =
        R"({"t": {"dtype": ")" + name + R"(", "shape": [3], "data_offsets": [0, )" + std::to_string(3 * width) + "]}}";
    const Safetensors read = parse_safetensors(file_with(header, std::string(3 * width, 'x')));
    EXPECT_EQ(name_of(read.at("t").dtype), name);
    EXPECT_EQ(size_of(read.at("t").dtype), width);
  }
}

TEST(Safetensors, WritesTheBytesTheFormatAsksFor) {
  const Safetensors contents = {{{"format", "pt"}}, {{"b", Dtype::U8, {2}, "xy"}, {"a", Dtype::I16, {1}, "\x01\x02"}}};
  const std::string header = R"({"__metadata__":{"format":"pt"},"a":{"dtype":"I16","shape":[1],"data_offsets":[0,2]},)"
                             R"("b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(serialize(contents), file_with(header + padding, "\x01\x02xy"));
}

TEST(Safetensors, AlignsTheData) {
  const std::string bytes = serialize(example());
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), 8);
  EXPECT_EQ(header_bytes % 8, 0u);
  const Safetensors read = parse_safetensors(bytes);
  std::vector<std::string> order;
  for (const TensorBytes& tensor : read.tensors) order.push_back(tensor.name);
  EXPECT_EQ(order.front(), "a.weight");  // the widest first
  EXPECT_EQ(order.back(), "mask");
}

// Made by hand after the format's description, with padding and no metadata, tensors not in the order of their data.
TEST(Safetensors, ReadsAFileAnotherProgramWrote) {
  const std::string header =
      R"({"w":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]},"s":{"data_offsets":[0,8],"shape":[],"dtype":"I64"}}   )";
  const Safetensors read = parse_safetensors(
      file_with(header, std::string("\x07\0\0\0\0\0\0\0", 8) + std::string("\0\0\x80\x3f\0\0\0\xc0", 8)));
  std::int64_t s = 0;
  std::memcpy(&s, read.at("s").bytes.data(), 8);
  EXPECT_EQ(s, 7);
  float w[2] = {};
  std::memcpy(w, read.at("w").bytes.data(), 8);
  EXPECT_THAT(w, ElementsAre(1.0f, -2.0f));
  EXPECT_EQ(read.at("w").shape, (std::vector<std::int64_t>{1, 2}));
}

struct Rejected {
  std::string bytes;
  std::string reason;  // part of the message
};

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

const std::string four = std::string(4, 'x');
const std::string fine = tensor("\"U8\"", "[4]", "[0,4]");

const std::vector<Rejected> rejected = {
    {"", "too short"},
    {"1234567", "too short"},
    {little_endian(100'000'001) + "{}", "at most 100000000"},
    {little_endian(~0ull) + "{}", "at most"},
    {little_endian(3) + "{}", "truncated"},
    {little_endian(0), "does not begin with {"},
    {file_with("[]", ""), "does not begin with {"},
    {file_with(" {}", ""), "does not begin with {"},
    {file_with("{", ""), "not JSON"},
    {file_with("{}x", ""), "not JSON"},
    {file_with("{\"\xff\":" + fine + "}", four), "not JSON"},
    {file_with("{}", "x"), "end at byte 0"},
    {file_with(R"({"t":)" + fine + "}", four + "x"), "end at byte 4 of the data, the data at 5"},
    {file_with(R"({"t":)" + fine + "}", "xxx"), "incomplete: it ends at byte"},
    {file_with(R"({"t":)" + fine + R"(,"t":)" + fine + "}", four), "appears twice"},
    {file_with(R"({"__metadata__":{"a":"1","a":"2"}})", ""), "appears twice"},
    {file_with(R"({"__metadata__":{},"__metadata__":{}})", ""), "appears twice"},
    {file_with(R"({"t":{"dtype":"U8","dtype":"I8","shape":[4],"data_offsets":[0,4]}})", four), "appears twice"},
    {file_with(R"({"a":)" + fine + R"(,"b":)" + tensor("\"U8\"", "[3]", "[1,4]") + "}", four), "overlaps"},
    {file_with(R"({"a":)" + fine + R"(,"b":)" + tensor("\"U8\"", "[0]", "[2,2]") + "}", four), "overlaps"},
    {file_with(R"({"a":)" + tensor("\"U8\"", "[1]", "[0,1]") + R"(,"b":)" + tensor("\"U8\"", "[2]", "[2,4]") + "}",
               four),
     "hole"},
    {file_with(R"({"a":)" + tensor("\"U8\"", "[3]", "[1,4]") + "}", four), "hole"},
    {file_with(R"({"t":)" + tensor("\"F8\"", "[4]", "[0,4]") + "}", four), "unknown dtype \"F8\""},
    {file_with(R"({"t":)" + tensor("3", "[4]", "[0,4]") + "}", four), "number"},
    {file_with(R"({"t":)" + tensor("null", "[4]", "[0,4]") + "}", four), "null"},
    {file_with(R"({"t":)" + tensor("[\"U8\"]", "[4]", "[0,4]") + "}", four), "list"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[5]", "[0,4]") + "}", four), "do not fit"},
    {file_with(R"({"t":)" + tensor("\"F32\"", "[4]", "[0,4]") + "}", four), "do not fit"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[-4]", "[0,4]") + "}", four), "negative"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[4.0]", "[0,4]") + "}", four), "whole number"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[1e0]", "[0,4]") + "}", four), "whole number"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "4", "[0,4]") + "}", four), "number"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[[4]]", "[0,4]") + "}", four), "list"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[\"4\"]", "[0,4]") + "}", four), "string"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[true]", "[0,4]") + "}", four), "true or false"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[18446744073709551615]", "[0,4]") + "}", four), "too large"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[4294967296,4294967296]", "[0,0]") + "}", ""), "too large"},
    {file_with(R"({"t":)" + tensor("\"F64\"", "[2305843009213693952]", "[0,0]") + "}", ""), "too large"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[4]", "[0,4,4]") + "}", four), "more than two"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[4]", "[4]") + "}", four), "not two numbers"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[4]", "[-1,3]") + "}", four), "negative"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[4]", "[0.0,4]") + "}", four), "whole number"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[4]", "[0,18446744073709551620]") + "}", four), "whole number"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[4]", "[4,0]") + "}", four), "reversed"},
    {file_with(R"({"t":)" + tensor("\"U8\"", "[4]", "[0,5]") + "}", four), "incomplete"},
    {file_with(R"({"t":{"dtype":"U8","shape":[4]}})", four), "no data_offsets"},
    {file_with(R"({"t":{"dtype":"U8","data_offsets":[0,4]}})", four), "no shape"},
    {file_with(R"({"t":{"shape":[4],"data_offsets":[0,4]}})", four), "no dtype"},
    {file_with(R"({"t":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":"y"}})", four), "unknown field \"x\""},
    {file_with(R"({"t":{"dtype":{},"shape":[4],"data_offsets":[0,4]}})", four), "object"},
    {file_with(R"({"t":"U8"})", ""), "string"},
    {file_with(R"({"t":null})", ""), "null"},
    {file_with(R"({"t":[]})", ""), "list"},
    {file_with(R"({"t":3})", ""), "number"},
    {file_with(R"({"__metadata__":{"step":12}})", ""), "number"},
    {file_with(R"({"__metadata__":{"step":null}})", ""), "null"},
    {file_with(R"({"__metadata__":{"step":{}}})", ""), "object"},
    {file_with(R"({"__metadata__":{"step":["1"]}})", ""), "list"},
    {file_with(R"({"__metadata__":"pt"})", ""), "string"},
    {file_with("{\"t\":" + std::string(1'000'000, '['), ""), "list"},
};

TEST(Safetensors, RejectsWhatTheFormatDoesNotAllow) {
  EXPECT_NO_THROW(parse_safetensors(file_with(R"({"t":)" + fine + "}", four)));
  for (const Rejected& file : rejected) {
    SCOPED_TRACE(file.bytes.substr(0, 200));
    const std::string message = message_of<SafetensorsError>([&] { parse_safetensors(file.bytes, "x.safetensors"); });
    EXPECT_THAT(message, HasSubstr(file.reason));
    EXPECT_THAT(message, testing::StartsWith("x.safetensors: "));
  }
}

TEST(Safetensors, NamesTheTensorThatIsWrong) {
  const std::string header = R"({"good":)" + fine + R"(,"bad.one":)" + tensor("\"F32\"", "[2]", "[4,8]") + "}";
  EXPECT_THAT(message_of<SafetensorsError>([&] { parse_safetensors(file_with(header, four + four)); }),
              HasSubstr("\"bad.one\""));
  EXPECT_THAT(message_of<SafetensorsError>([] { Safetensors{}.at("w"); }), HasSubstr("\"w\""));
}

TEST(Safetensors, RefusesToWriteWhatItCouldNotRead) {
  const TensorBytes good = {"t", Dtype::F32, {1}, four};
  EXPECT_NO_THROW(serialize({{}, {good}}));
  EXPECT_THROW(serialize({{}, {good, good}}), SafetensorsError);
  EXPECT_THROW(serialize({{}, {{"t", Dtype::F32, {2}, four}}}), SafetensorsError);
  EXPECT_THROW(serialize({{}, {{"t", Dtype::F32, {-1}, four}}}), SafetensorsError);
  EXPECT_THROW(serialize({{}, {{"__metadata__", Dtype::F32, {1}, four}}}), SafetensorsError);
  EXPECT_THROW(serialize({{}, {{"\xff", Dtype::F32, {1}, four}}}), SafetensorsError);
  EXPECT_THROW(serialize({{{"a", "\xff"}}, {}}), SafetensorsError);
}

// Any damage gives a SafetensorsError or a file that still explains every one of its bytes.
TEST(Safetensors, SurvivesDamage) {
  const std::string whole = serialize(example());
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, whole.data(), 8);
  std::mt19937 random(11);
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string damaged = whole;
    for (auto i = 1 + random() % 3; i > 0; --i) {
      const std::size_t place = random() % (round % 2 ? damaged.size() : 8 + header_bytes);
      switch (random() % 4) {
        case 0:
          damaged[place] = static_cast<char>(random());
          break;
        case 1:
          damaged[place] = "0123456789{}[]\",:-"[random() % 18];
          break;
        case 2:
          damaged.insert(place, 1, static_cast<char>('0' + random() % 10));
          break;
        default:
          damaged.erase(place, 1 + random() % 3);
          break;
      }
      if (damaged.size() < 8 + header_bytes) damaged.resize(8 + header_bytes);
    }
    try {
      const Safetensors read = parse_safetensors(damaged);
      ++accepted;
      EXPECT_EQ(parse_safetensors(serialize(read)).metadata, read.metadata);
    } catch (const SafetensorsError&) {
    }
  }
  EXPECT_GT(accepted, 200);
  EXPECT_LT(accepted, 19'000);
}

class SafetensorsFile : public Folder {};

TEST_F(SafetensorsFile, GoesThroughTheDisk) {
  write_safetensors(at("x.safetensors"), example());
  EXPECT_EQ(read_safetensors(at("x.safetensors")), parse_safetensors(serialize(example())));
  put("y.safetensors", "short");
  EXPECT_THAT(message_of<SafetensorsError>([&] { read_safetensors(at("y.safetensors")); }), HasSubstr("y.safetensors"));
  EXPECT_THROW(read_safetensors(at("absent")), FileError);
}

// ---- the run's folder

class RunOnDisk : public Folder {};

TEST_F(RunOnDisk, IsAFolderWithAConfigurationAndWeights) {
  EXPECT_FALSE(is_run(at("absent")));
  EXPECT_FALSE(is_run(at(".")));
  put("config.json", "");
  EXPECT_FALSE(is_run(at(".")));
  put("model.safetensors", "");
  EXPECT_TRUE(is_run(at(".")));
  EXPECT_FALSE(is_run(at("config.json")));
}

TEST_F(RunOnDisk, SaysWhatItLacks) {
  const auto lacking = [&] { return message_of<RunError>([&] { check_is_run(at(".")); }); };
  EXPECT_THAT(lacking(), testing::EndsWith("does not contain a run"));
  for (const char* name : {"b", "a", "c"}) std::filesystem::create_directories(at(name));
  for (const char* file : {"b/config.json", "b/model.safetensors", "c/config.json", "c/model.safetensors"})
    put(file, "");
  EXPECT_THAT(lacking(), testing::EndsWith("does not contain a run; open a folder in it, such as b"));
  // Files that a failed first save used to leave.
  put("config.json", "");
  put("tokenizer.model", "");
  EXPECT_THAT(lacking(), testing::AllOf(HasSubstr("missing: corpus.json, model.safetensors"),
                                        HasSubstr("train again into another folder")));
  put("corpus.json", "");
  put("model.safetensors", "");
  EXPECT_NO_THROW(check_is_run(at(".")));
}

TEST_F(RunOnDisk, TakesThePlaceOfNothing) {
  const auto objection = [&](const char* folder) {
    return message_of<FileError>([&] { check_free_for_run(at(folder)); });
  };
  EXPECT_NO_THROW(check_free_for_run(at("absent")));
  fs::create_directory(at("other"));
  put("other/notes.txt", "");
  EXPECT_NO_THROW(check_free_for_run(at("other")));
  put("other/model.safetensors", "somebody else's");
  EXPECT_THAT(objection("other"), testing::AllOf(HasSubstr("other"), HasSubstr("model.safetensors")));
  put("other/config.json", "");
  EXPECT_THAT(objection("other"), HasSubstr("already contains a run"));
}

TEST_F(RunOnDisk, IsMadeWhereSomethingCanBeWritten) {
  check_writable_run_folder(at("a") / "b");
  EXPECT_TRUE(fs::is_directory(at("a") / "b"));
  EXPECT_TRUE(fs::is_empty(at("a") / "b"));
  check_writable_run_folder(at("a") / "b");
  put("plain", "");
  EXPECT_THAT(message_of<FileError>([&] { check_writable_run_folder(at("plain")); }), HasSubstr("plain"));
  EXPECT_THAT(message_of<FileError>([&] { check_writable_run_folder(at("plain") / "run"); }), HasSubstr("plain/run"));
  EXPECT_THROW(check_writable_run_folder("/proc/attnscope-run"), FileError);
}

TEST_F(RunOnDisk, KeepsItsConfiguration) {
  Config config;
  config.model.d_model = 64;
  config.corpus.source = "Bücher/é.tsv";
  config.training.noam_factor = 0.1;
  save_config(at("config.json"), config);
  EXPECT_EQ(load_config(at("config.json")), config);
}

TEST_F(RunOnDisk, NamesFileAndFieldOfABrokenConfiguration) {
  put("config.json", R"({"version":3,"model":{"d_model":"wide"}})");
  EXPECT_THAT(message_of<RunError>([&] { load_config(at("config.json")); }),
              testing::AllOf(HasSubstr("config.json"), HasSubstr("d_model")));
  put("config.json", "{");
  EXPECT_THAT(message_of<RunError>([&] { load_config(at("config.json")); }), HasSubstr("config.json"));
  EXPECT_THROW(load_config(at("absent.json")), FileError);
}

const CorpusRecord record = {"a.en", "a.fr", "a", "00ff", -3, 90, 5, 5, 2};

TEST_F(RunOnDisk, KeepsWhatTheCorpusWas) {
  save_corpus_record(at("corpus.json"), record);
  EXPECT_EQ(load_corpus_record(at("corpus.json")), record);
  CorpusRecord latin = record;
  latin.source = "caf\xe9.tsv";  // a path that is not UTF-8
  save_corpus_record(at("corpus.json"), latin);
  EXPECT_EQ(load_corpus_record(at("corpus.json")).source, "caf\ufffd.tsv");
}

TEST_F(RunOnDisk, NamesFileAndFieldOfABrokenCorpus) {
  const auto broken = [&](const std::string& json) {
    put("corpus.json", json);
    return message_of<RunError>([&] { load_corpus_record(at("corpus.json")); });
  };
  EXPECT_THAT(broken("[]"), HasSubstr("corpus.json"));
  EXPECT_THAT(broken(R"({"source":"a"})"), HasSubstr("\"target\""));
  const std::string rest = R"(,"target":"","name":"","hash":"","train":1,"validation":1,"test":1,"skipped":0})";
  EXPECT_THAT(broken(R"({"source":3,"seed":1)" + rest), HasSubstr("\"source\" is 3"));
  EXPECT_THAT(broken(R"({"source":"","seed":1.5)" + rest), HasSubstr("\"seed\" is 1.5"));
  EXPECT_THAT(broken(R"({"source":"","seed":18446744073709551615)" + rest), HasSubstr("\"seed\""));
}

// 200 000 lists within one another would overflow the stack.
TEST_F(RunOnDisk, RefusesValuesNestedWithoutEnd) {
  const std::string deep(200'000, '[');
  for (const std::string& text : {deep, deep + std::string(deep.size(), ']'), "{\"source\":" + deep}) {
    put("nested.json", text + "\n");
    EXPECT_THAT(message_of<RunError>([&] { load_config(at("nested.json")); }), HasSubstr("nested.json: more than 32"));
    EXPECT_THAT(message_of<RunError>([&] { load_corpus_record(at("nested.json")); }), HasSubstr("nested.json"));
    std::vector<std::string> unusable;
    EXPECT_THAT(load_metrics(at("nested.json"), &unusable), IsEmpty());
    EXPECT_THAT(unusable, ElementsAre(HasSubstr("line 1: more than 32")));
  }
}

MetricPoint point(std::int64_t step) {
  MetricPoint made;
  made.step = step;
  made.set(metric("loss"), 4 + 1 / static_cast<double>(1 << step));
  made.set(metric("learning_rate"), 1e-4);
  made.set(metric("gradient_norm"), 0.1);
  made.set(metric("tokens_per_second"), 9100.5);
  return made;
}

TEST_F(RunOnDisk, KeepsItsMetrics) {
  const fs::path file = at("metrics.jsonl");
  EXPECT_THAT(load_metrics(file), IsEmpty());
  MetricPoint validated = point(3);
  validated.set(metric("validation_nll"), 1.0 / 3);
  append_metrics(file, std::vector{point(1), point(2)});
  append_metrics(file, std::vector{validated});
  append_metrics(file, {});
  EXPECT_THAT(load_metrics(file), ElementsAre(point(1), point(2), validated));
  const std::string lines = get("metrics.jsonl");
  EXPECT_EQ(lines.substr(0, lines.find('\n')),
            R"({"step":1,"loss":4.5,"learning_rate":0.0001,"gradient_norm":0.1,"tokens_per_second":9100.5})");
  EXPECT_THAT(lines, testing::EndsWith(R"("tokens_per_second":9100.5,"validation_nll":0.33333334})"
                                       "\n"));
}

TEST_F(RunOnDisk, KeepsMetricsAsFloat32) {
  MetricPoint measured = point(1);
  measured.set(metric("loss"), 1.0 / 3);
  measured.set(metric("gradient_norm"), 7.652774333953857);
  append_metrics(at("metrics.jsonl"), std::vector{measured});
  const MetricPoint once = load_metrics(at("metrics.jsonl")).at(0);
  EXPECT_EQ(once[metric("loss")], double{1.0F / 3});
  EXPECT_EQ(once[metric("gradient_norm")], 7.652774333953857) << "a float32 is what it was";
  save_metrics(at("metrics.jsonl"), std::vector{once});
  EXPECT_THAT(load_metrics(at("metrics.jsonl")), ElementsAre(once)) << "what was rounded once stays";
}

TEST_F(RunOnDisk, ReadsNumbersThatAreNotFiniteAsNaN) {
  const fs::path file = at("metrics.jsonl");
  MetricPoint diverged = point(1);
  diverged.set(metric("loss"), std::numeric_limits<double>::quiet_NaN());
  diverged.set(metric("gradient_norm"), std::numeric_limits<double>::infinity());
  diverged.set(metric("validation_nll"), std::numeric_limits<double>::quiet_NaN());
  append_metrics(file, std::vector{diverged});
  const MetricPoint read = load_metrics(file).at(0);
  for (const std::size_t lost : {metric("loss"), metric("gradient_norm"), metric("validation_nll")}) {
    ASSERT_TRUE(read[lost]);
    EXPECT_TRUE(std::isnan(*read[lost]));
  }
  EXPECT_EQ(read[metric("learning_rate")], diverged[metric("learning_rate")]);
  put("metrics.jsonl", "{\"step\":1,\"loss\":1e300}\n");
  EXPECT_TRUE(std::isnan(load_metrics(file).at(0)[metric("loss")].value())) << "beyond float32";
}

TEST_F(RunOnDisk, ReadsRunsThatMeasuredLessOrMore) {
  put("metrics.jsonl", "{\"step\":1,\"loss\":2.5}\n{\"step\":2,\"not_measured_any_more\":1,\"loss\":2}\n");
  const std::vector<MetricPoint> points = load_metrics(at("metrics.jsonl"));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0][metric("loss")], 2.5);
  EXPECT_EQ(points[0][metric("learning_rate")], std::nullopt);
  EXPECT_EQ(points[1][metric("loss")], 2);
}

TEST_F(RunOnDisk, DropsATornLastLine) {
  const fs::path file = at("metrics.jsonl");
  append_metrics(file, std::vector{point(1), point(2)});
  const std::string whole = get("metrics.jsonl");
  for (std::size_t cut = 1; cut < whole.size() / 2; ++cut) {
    put("metrics.jsonl", whole.substr(0, whole.size() - cut));
    ASSERT_THAT(load_metrics(file), ElementsAre(point(1)));
  }
  save_metrics(file, load_metrics(file));
  append_metrics(file, std::vector{point(2)});
  EXPECT_THAT(load_metrics(file), ElementsAre(point(1), point(2)));
}

TEST_F(RunOnDisk, LeavesOutABrokenMetricAndNamesItsLine) {
  const fs::path file = at("metrics.jsonl");
  append_metrics(file, std::vector{point(1), point(2)});
  const std::string whole = get("metrics.jsonl");
  for (const std::string broken : {"{\"step\":3\n", "\n", "[]\n", "{\"loss\":3}\n", "{\"step\":\"3\"}\n",
                                   "{\"step\":3,\"loss\":\"3\"}\n", "{\"step\":3,\"loss\":NaN}\n"}) {
    put("metrics.jsonl", whole + broken + metrics_line(point(4)) + "\n");
    std::vector<std::string> unusable;
    EXPECT_THAT(load_metrics(file, &unusable), ElementsAre(point(1), point(2), point(4)));
    EXPECT_THAT(unusable, ElementsAre(testing::AllOf(HasSubstr("metrics.jsonl"), HasSubstr("line 3"))));
  }
}

TEST_F(RunOnDisk, LeavesOutMetricsWhoseStepsDoNotAscend) {
  const fs::path file = at("metrics.jsonl");
  for (const std::string step : {"2", "1", "0", "-3", "9223372036854775807"}) {
    put("metrics.jsonl", "{\"step\":1}\n{\"step\":2}\n{\"step\":" + step + "}\n");
    std::vector<std::string> unusable;
    EXPECT_EQ(load_metrics(file, &unusable).size(), 2U);
    EXPECT_THAT(unusable, ElementsAre(testing::AllOf(HasSubstr("line 3"), HasSubstr("\"step\" is " + step))));
  }
  put("metrics.jsonl", "{\"step\":1}\n{\"step\":5}\n");
  EXPECT_EQ(load_metrics(file).size(), 2U) << "of a run whose metrics were lost for a while";
}

TEST_F(RunOnDisk, ReplacesItsMetricsAsAWhole) {
  const fs::path file = at("metrics.jsonl");
  append_metrics(file, std::vector{point(1), point(2), point(3), point(4)});
  save_metrics(file, std::vector{point(1), point(2)});
  EXPECT_THAT(load_metrics(file), ElementsAre(point(1), point(2)));
  save_metrics(file, {});
  EXPECT_THAT(load_metrics(file), IsEmpty());
  EXPECT_THAT(names(), ElementsAre("metrics.jsonl"));
}

TEST_F(RunOnDisk, KeepsTheNewestWeightsUpToAStep) {
  const RunFolder run{at("run")};
  EXPECT_THAT(kept_steps(run), IsEmpty());
  fs::create_directories(run.checkpoints());
  for (const std::int64_t step : {12000, 3, 900, 10000000, 13000}) write_file(run.kept_weights(step), "x");
  EXPECT_EQ(run.kept_weights(900).filename(), "00000900.safetensors");
  for (const char* other : {"900.safetensors", "0000090x.safetensors", "00000900.txt", "notes", "-0000900.safetensors"})
    put(std::string("run/checkpoints/") + other, "not ours");
  EXPECT_THAT(kept_steps(run), ElementsAre(3, 900, 12000, 13000, 10000000));
  const LockedRun held(run.path);
  const auto prune = [&](std::int64_t last_step, std::int64_t count) {
    Checkpoint checkpoint(held);
    checkpoint.prune_kept_weights(last_step, count);
    checkpoint.commit();
  };
  prune(13000, 2);
  EXPECT_THAT(kept_steps(run), ElementsAre(12000, 13000));
  prune(0, 0);
  EXPECT_THAT(kept_steps(run), IsEmpty());
  EXPECT_TRUE(fs::exists(run.checkpoints() / "notes"));
}

TEST_F(RunOnDisk, SaysThatTheDiskIsFull) {
  const fs::path file = at("metrics.jsonl");
  append_metrics(file, std::vector{point(1)});
  {
    const FullDisk full(fs::file_size(file) + 10);
    EXPECT_THAT(message_of<FileError>([&] { append_metrics(file, std::vector{point(2)}); }),
                HasSubstr("metrics.jsonl"));
  }
  append_metrics(file, std::vector{point(3)});  // once there is room again
  EXPECT_THAT(load_metrics(file), ElementsAre(point(1), point(3)));
}

// ---- the cache

class Cache : public testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("attnscope-cache-" + std::to_string(::getpid()));
  std::string before = std::getenv("XDG_CACHE_HOME") ? std::getenv("XDG_CACHE_HOME") : "";
  void SetUp() override { ::setenv("XDG_CACHE_HOME", folder.c_str(), 1); }
  void TearDown() override {
    before.empty() ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", before.c_str(), 1);
    fs::remove_all(folder);
  }
  static std::shared_ptr<const CacheFile> written(const std::string& name, const std::string& bytes) {
    CacheWriter writer(name);
    for (std::size_t at = 0; at < bytes.size(); at += 300'007) writer.append(bytes.substr(at, 300'007));
    EXPECT_EQ(writer.so_far()->content().substr(0, bytes.size()), bytes);
    const std::vector<std::uint64_t> numbers = {1, 2, 3};
    const std::uint64_t offset = writer.append_numbers(std::span<const std::uint64_t>(numbers));
    auto file = writer.finish("{\"name\":\"x\"}");
    EXPECT_THAT(file->numbers<std::uint64_t>(offset, 3), testing::ElementsAre(1, 2, 3));
    return file;
  }
  static std::string text(std::size_t size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>('a' + i * i % 23);
    return bytes;
  }
};

TEST_F(Cache, GivesBackWhatWasWritten) {
  for (const std::size_t size : {0U, 5U, 1U << 20U, (3U << 20U) + 17U}) {
    const std::string bytes = text(size);
    EXPECT_EQ(written("x.bin", bytes)->content().substr(0, size), bytes);
    const auto opened = CacheFile::open("x.bin");
    ASSERT_TRUE(opened) << size;
    EXPECT_EQ(opened->content().substr(0, size), bytes);
    EXPECT_EQ(opened->about(), "{\"name\":\"x\"}");
  }
  EXPECT_THAT(cache_entries(), testing::SizeIs(1)) << "no temporary file is left";
  EXPECT_EQ(fs::status(folder / "attnscope" / "x.bin").permissions() & fs::perms::others_all, fs::perms::none);
}

TEST_F(Cache, RemovesADamagedFile) {
  const fs::path path = folder / "attnscope" / "x.bin";
  const std::string bytes = text(3'000'000);
  for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{1'048'576}, std::uint64_t{2'999'999}}) {
    written("x.bin", bytes);
    std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(static_cast<std::streamoff>(at)).put('!');
    EXPECT_FALSE(CacheFile::open("x.bin")) << at;
    EXPECT_FALSE(fs::exists(path));
  }
  for (const std::uint64_t size : {0U, 10U, 2'000'000U}) {
    written("x.bin", bytes);
    fs::resize_file(path, size);
    EXPECT_FALSE(CacheFile::open("x.bin")) << size;
  }
}

TEST_F(Cache, IsInMemoryWithoutAFolder) {
  std::ofstream(folder.string()) << "a file where the folder would be";
  EXPECT_EQ(written("x.bin", "text")->content().substr(0, 4), "text");
  EXPECT_FALSE(CacheFile::open("x.bin"));
}

}  // namespace
}  // namespace attnscope
