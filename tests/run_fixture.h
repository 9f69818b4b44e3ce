// A small run whose engine is quick to make and to train.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/config.h"

namespace attnscope {

// A file of 300 pairs, the letters of a line to be written again; gone when the program ends.
inline const std::string& letters_file() {
  struct File {
    std::string path =
        (std::filesystem::temp_directory_path() / ("attnscope-letters-" + std::to_string(::getpid()) + ".tsv"))
            .string();
    File() {
      std::ofstream out(path);
      for (unsigned line = 0; line < 300; ++line) {
        std::string letters;
        for (unsigned i = 0; i < 3 + line % 6; ++i)
          letters += {static_cast<char>('a' + (line * 7 + i * (line % 11 + 1)) % 13), ' '};
        letters += static_cast<char>('a' + line % 13);
        out << letters << '\t' << letters << '\n';
      }
    }
    ~File() { std::filesystem::remove(path); }
  };
  static const File file;
  return file.path;
}

inline Config tiny_config(const std::string& corpus = letters_file()) {
  Config config;
  config.corpus.source = corpus;
  config.tokenizer.vocab_size = 64;
  config.model = {.d_model = 16, .num_heads = 2, .num_encoder_layers = 1, .num_decoder_layers = 1, .d_ff = 32};
  config.model.max_length = 24;
  config.training.batch_size = 8;
  config.training.warmup_steps = 20;
  config.training.validation_interval = 5;
  config.training.threads = 1;
  config.training.device = "cpu";
  return config;
}

}  // namespace attnscope
