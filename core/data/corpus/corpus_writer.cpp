#include "data/corpus/corpus_writer.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "common/free_memory.h"
#include "data/corpus/random.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int format_version = 1;

template <typename Parts>
auto parts_of(Parts& corpus) {
  return std::array{&corpus.train, &corpus.validation, &corpus.test};
}

// Changes with every build.
std::string generator() {
  Dl_info info{};
  std::error_code error;
  if (::dladdr(reinterpret_cast<void*>(&append_record), &info) == 0) return {};
  const fs::path file = info.dli_fname;
  const auto size = fs::file_size(file, error);
  const auto time = fs::last_write_time(file, error).time_since_epoch().count();
  return error ? std::string() : fmt::format("{} {}", size, time);
}

// Empty if it is small, or cannot be read.
std::string contents_key(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) < smallest_stored || error) return {};
  std::ifstream file(path, std::ios::binary);
  std::string block(smallest_stored, '\0');
  std::uint64_t sum = 0;
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0)
    sum = checksum(std::string_view(block).substr(0, static_cast<std::size_t>(file.gcount())), sum);
  return fmt::format("{:016x}", sum);
}

std::string hash_of(const std::shared_ptr<const CacheFile>& file,
                    const std::array<std::vector<std::uint64_t>, 3>& parts) {
  std::uint64_t state = fnv_start;
  for (const std::vector<std::uint64_t>& part : parts) {
    PairList(file, Numbers(file, std::span(part))).for_each([&](const PairView& pair) {
      state = fnv1a("\t", fnv1a(pair.source, state));
      state = fnv1a("\n", fnv1a(pair.target, state));
    });
    state = fnv1a("\f", state);  // separates the parts
  }
  return fmt::format("{:016x}", state);
}

Json report_json(const CorpusReport& report, const CorpusConfig& config) {
  Json examples = Json::array();
  for (const SkippedLine& line : report.examples)
    examples.push_back({line.file == config.target, line.line, line.reason});
  return {{"lines_read", report.lines_read},
          {"duplicates", report.duplicates},
          {"skipped", report.skipped},
          {"examples", std::move(examples)}};
}

CorpusReport report_of(const Json& json, const CorpusConfig& config) {
  CorpusReport report{json.at("lines_read"), json.at("duplicates"), json.at("skipped"), {}};
  for (const Json& line : json.at("examples"))
    report.examples.push_back({line[0].get<bool>() ? config.target : config.source, line[1], line[2]});
  return report;
}

void take_parts(const std::shared_ptr<const CacheFile>& file, const Json& parts, Corpus& corpus) {
  const auto lists = parts_of(corpus);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const auto begins = file->numbers<std::uint64_t>(parts[i][0], parts[i][1]);
    *lists[i] = PairList(file, Numbers(file, begins));
  }
}

}  // namespace

std::string stored_name(const CorpusConfig& config) {
  const bool built_in = config.target.empty() && is_built_in(config.source);
  std::string content = built_in ? generator() : contents_key(config.source);
  if (built_in && !content.empty()) content += config.source;
  const std::string target = config.target.empty() ? "" : contents_key(config.target);
  if (content.empty() || (target.empty() && !config.target.empty())) return {};
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", format_version, content, target, config.seed, config.separator,
                  config.lowercase, config.normalize, config.held_out, fs::path(config.source).extension().string());
  return fmt::format("corpus-{:016x}.bin", checksum(key));
}

bool open_stored(const std::string& name, const CorpusConfig& config, Corpus& corpus) {
  const auto file = CacheFile::open(name);
  if (!file) return false;
  const Json about = Json::parse(file->about());
  corpus.hash = about.at("hash");
  corpus.report = report_of(about.at("report"), config);
  corpus.caches_tokens = true;
  take_parts(file, about.at("parts"), corpus);
  return true;
}

void CorpusWriter::add(const PairView& pair) {
  begins_.push_back(out_.size());
  record_.clear();
  append_record(record_, pair);
  out_.append(record_);
}

void CorpusWriter::finish(Corpus& corpus, const CorpusConfig& config, const std::function<int(std::size_t)>& part_of) {
  std::array<std::vector<std::uint64_t>, 3> parts;
  for (std::size_t i = 0; i < begins_.size(); ++i) parts[static_cast<std::size_t>(part_of(i))].push_back(begins_[i]);
  std::vector<std::uint64_t>().swap(begins_);
  corpus.hash = hash_of(out_.so_far(), parts);
  corpus.caches_tokens = !name_.empty();
  Json about = {{"name", corpus.name}, {"hash", corpus.hash}, {"report", report_json(corpus.report, config)}};
  for (const std::vector<std::uint64_t>& part : parts)
    about["parts"].push_back({out_.append_numbers(std::span<const std::uint64_t>(part)), part.size()});
  parts = {};
  give_back_memory();
  take_parts(out_.finish(about.dump(-1, ' ', false, Json::error_handler_t::replace)), about["parts"], corpus);
}

}  // namespace attnscope
