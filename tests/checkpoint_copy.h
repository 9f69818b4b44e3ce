// A copy of one of the random checkpoints, which a test may change.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

#include "engine/torch_engine.h"
#include "files/storage/safetensors.h"
#include "random_checkpoints.h"

namespace attnscope {

// The error message when the folder is opened; empty: it opens.
inline std::string opening_complaint(const std::filesystem::path& folder) {
  try {
    TorchEngine engine;
    engine.open_run(folder.string(), {});
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

class CheckpointCopy {
 public:
  explicit CheckpointCopy(const std::string& family) { copy(family); }
  ~CheckpointCopy() { std::filesystem::remove_all(folder); }
  CheckpointCopy(const CheckpointCopy&) = delete;
  CheckpointCopy& operator=(const CheckpointCopy&) = delete;

  void copy(const std::string& family) {
    std::filesystem::remove_all(folder);
    std::filesystem::copy(random_checkpoint(family), folder);
    std::filesystem::remove(folder / "expected.json");
  }

  nlohmann::json json(const std::string& name) const { return nlohmann::json::parse(text(name)); }
  void set(const std::string& field, const nlohmann::json& value, const std::string& name = "config.json") {
    nlohmann::json config = std::filesystem::exists(folder / name) ? json(name) : nlohmann::json::object();
    config[field] = value;
    write(name, config.dump());
  }
  void drop(const std::string& field) {
    nlohmann::json config = json("config.json");
    config.erase(field);
    write("config.json", config.dump());
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  }
  std::string text(const std::string& name) const {
    std::ifstream file(folder / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void shorten(const std::string& name, std::size_t bytes) const {
    std::filesystem::resize_file(folder / name, std::filesystem::file_size(folder / name) - bytes);
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(folder / name); }

  // All weights, of shards too.
  Safetensors tensors() const {
    Safetensors all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".safetensors") continue;
      Safetensors file = read_safetensors(entry.path());
      for (TensorBytes& tensor : file.tensors) all.tensors.push_back(std::move(tensor));
    }
    std::ranges::sort(all.tensors, {}, &TensorBytes::name);
    return all;
  }
  // In place of all there are.
  void put(const Safetensors& tensors) const {
    remove_weights();
    write_safetensors(folder / "model.safetensors", tensors);
  }
  // Half of them each in two files, and the index.
  void shard() const {
    const Safetensors all = tensors();
    remove_weights();
    nlohmann::json index = {{"metadata", nlohmann::json::object()}, {"weight_map", nlohmann::json::object()}};
    for (std::size_t part = 0; part < 2; ++part) {
      const std::string name = part == 0 ? "one.safetensors" : "two.safetensors";
      Safetensors half;
      for (std::size_t i = part; i < all.tensors.size(); i += 2) {
        half.tensors.push_back(all.tensors[i]);
        index["weight_map"][all.tensors[i].name] = name;
      }
      write_safetensors(folder / name, half);
    }
    write("model.safetensors.index.json", index.dump());
  }

  const std::filesystem::path folder = next_folder();

 private:
  static std::filesystem::path next_folder() {
    static int count = 0;
    return std::filesystem::path(testing::TempDir()) /
           ("attnscope_checkpoint_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  }

  void remove_weights() const {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.path().string().find(".safetensors") != std::string::npos) files.insert(entry.path());
    for (const auto& file : files) std::filesystem::remove(file);
  }
};

}  // namespace attnscope
