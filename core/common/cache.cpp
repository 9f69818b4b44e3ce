#include "common/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <system_error>

namespace attnscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block_size = 1 << 20;  // written and checked at once
constexpr std::uint64_t magic = 0x31656863614e5441;

// The end of a file, after the content and the text about it.
struct End {
  std::uint64_t magic, about_size, checksum;
};

std::shared_ptr<CacheFile> map_file(int descriptor, std::size_t size) {
  void* const data = ::mmap(nullptr, std::max<std::size_t>(1, size), PROT_READ, MAP_SHARED, descriptor, 0);
  return data == MAP_FAILED ? nullptr : std::make_shared<CacheFile>(static_cast<const char*>(data), size);
}

std::shared_ptr<CacheFile> required(std::shared_ptr<CacheFile> mapped) {
  if (!mapped) throw std::system_error(errno, std::generic_category(), "cannot map the stored corpus");
  return mapped;
}

int file_in_memory() {
  const int file = ::memfd_create("attnscope", MFD_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), "cannot store the corpus in memory");
  return file;
}

}  // namespace

fs::path cache_folder() {
  for (const auto& [variable, below] : {std::pair{"XDG_CACHE_HOME", "attnscope"}, {"HOME", ".cache/attnscope"}})
    if (const char* value = std::getenv(variable); value != nullptr && fs::path(value).is_absolute())
      return fs::path(value) / below;
  return {};
}

std::uint64_t checksum(std::string_view bytes, std::uint64_t state) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  std::array<std::uint64_t, 8> lanes{};
  for (; bytes.size() >= sizeof lanes; bytes.remove_prefix(sizeof lanes)) {
    std::array<std::uint64_t, 8> words{};
    std::memcpy(words.data(), bytes.data(), sizeof words);
    for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = ((lanes[i] ^ words[i]) * factor) ^ (lanes[i] >> 29U);
  }
  const auto mix = [&](std::uint64_t word) {
    state = (state ^ word) * factor;
    state ^= state >> 32U;
  };
  for (const std::uint64_t lane : lanes) mix(lane);
  for (const char byte : bytes) mix(static_cast<unsigned char>(byte));
  mix(bytes.size());
  return state;
}

// ---- reading

CacheFile::CacheFile(const char* data, std::size_t size) : bytes_(data, size), content_size_(size) {}

std::shared_ptr<const CacheFile> CacheFile::open(const std::string& name) {
  const fs::path folder = cache_folder();
  if (folder.empty() || name.empty()) return nullptr;
  const Descriptor file(::open((folder / name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status = {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  auto mapped = map_file(file.get(), static_cast<std::size_t>(status.st_size));
  const bool intact = mapped && mapped->read_end(true);
  if (!intact) ::unlink((folder / name).c_str());
  if (intact) ::futimens(file.get(), nullptr);  // `attnscope cache` says when it was last used
  return intact ? mapped : nullptr;
}

bool CacheFile::read_end(bool checks) {
  End end{};
  if (bytes_.size() < sizeof end) return false;
  std::memcpy(&end, bytes_.data() + bytes_.size() - sizeof end, sizeof end);
  if (end.magic != magic || end.about_size > bytes_.size() - sizeof end) return false;
  content_size_ = bytes_.size() - sizeof end - end.about_size;
  about_ = bytes_.substr(content_size_, end.about_size);
  std::uint64_t sum = 0;
  for (std::size_t at = 0; checks && at < content_size_; at += block_size) {
    sum = checksum(content().substr(at, block_size), sum);
    if (at % (32 * block_size) == 0) release();
  }
  release();
  return !checks || checksum(about_, sum) == end.checksum;
}

std::vector<CacheEntry> cache_entries() {
  std::vector<CacheEntry> entries;
  std::error_code error;
  for (fs::directory_iterator at(cache_folder(), error); at != fs::directory_iterator(); at.increment(error)) {
    const fs::directory_entry& file = *at;
    CacheEntry entry{file.path(), {}, file.file_size(error), file.last_write_time(error)};
    const Descriptor descriptor(::open(entry.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (error || !file.is_regular_file(error) || descriptor.get() < 0) continue;
    const auto mapped = map_file(descriptor.get(), static_cast<std::size_t>(entry.size));
    if (mapped && mapped->read_end(false)) entry.about = mapped->about();
    entries.push_back(std::move(entry));
  }
  std::ranges::sort(entries, std::ranges::greater(), &CacheEntry::used);
  return entries;
}

CacheFile::~CacheFile() {
  ::munmap(const_cast<char*>(bytes_.data()), std::max<std::size_t>(1, bytes_.size()));
}

void CacheFile::release() const {
  ::madvise(const_cast<char*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

// ---- writing

CacheWriter::CacheWriter(const std::string& name) {
  if (const fs::path folder = cache_folder(); !folder.empty() && !name.empty()) {
    std::error_code ignored;
    if (fs::create_directories(folder, ignored)) fs::permissions(folder, fs::perms::owner_all, ignored);
    path_ = folder / name;
    temporary_ = fmt::format("{}.{}.tmp", path_.string(), ::getpid());
    file_ = Descriptor(::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  }
  if (file_.get() < 0) {
    temporary_.clear();
    file_ = Descriptor(file_in_memory());
  }
}

CacheWriter::~CacheWriter() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void CacheWriter::append(std::string_view bytes) {
  size_ += bytes.size();
  while (buffer_.size() + bytes.size() >= block_size) {
    const std::size_t fits = block_size - buffer_.size();
    buffer_.append(bytes.substr(0, fits));
    bytes.remove_prefix(fits);
    flush();
  }
  buffer_.append(bytes);
}

void CacheWriter::flush() {
  checksum_ = checksum(buffer_, checksum_);
  if (!write_all(file_.get(), buffer_) && !(move_to_memory() && write_all(file_.get(), buffer_)))
    throw std::system_error(errno, std::generic_category(), "cannot store the corpus");
  flushed_ += buffer_.size();
  buffer_.clear();
}

bool CacheWriter::move_to_memory() {
  if (temporary_.empty()) return false;
  Descriptor memory(file_in_memory());
  ::lseek(file_.get(), 0, SEEK_SET);
  std::string block(block_size, '\0');
  for (std::uint64_t left = flushed_; left > 0;) {
    const ssize_t got = ::read(file_.get(), block.data(), std::min<std::uint64_t>(left, block.size()));
    if (got <= 0 || !write_all(memory.get(), std::string_view(block).substr(0, static_cast<std::size_t>(got))))
      return false;
    left -= static_cast<std::uint64_t>(got);
  }
  ::unlink(temporary_.c_str());
  temporary_.clear();
  file_ = std::move(memory);
  return true;
}

std::shared_ptr<const CacheFile> CacheWriter::so_far() {
  const auto write_rest = [&] {  // it is written again with its block
    const bool whole = write_all(file_.get(), buffer_);
    ::lseek(file_.get(), static_cast<off_t>(flushed_), SEEK_SET);
    return whole;
  };
  if (!write_rest() && !(move_to_memory() && write_rest()))
    throw std::system_error(errno, std::generic_category(), "cannot store the corpus");
  return required(map_file(file_.get(), size_));
}

std::shared_ptr<const CacheFile> CacheWriter::finish(const std::string& about) {
  if (!buffer_.empty()) flush();
  const End end{magic, about.size(), checksum(about, checksum_)};
  buffer_ = about;
  buffer_.append(reinterpret_cast<const char*>(&end), sizeof end);
  flush();
  if (!temporary_.empty() && ::rename(temporary_.c_str(), path_.c_str()) == 0) temporary_.clear();
  auto mapped = required(map_file(file_.get(), flushed_));
  if (!mapped->read_end(false)) throw std::system_error(EIO, std::generic_category(), "cannot map the stored corpus");
  return mapped;
}

}  // namespace attnscope
