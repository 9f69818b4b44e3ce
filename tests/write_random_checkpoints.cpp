// Writes the random checkpoints into a folder, for data/checkpoints/expected.py: write_random_checkpoints FOLDER
#include <cstdio>

#include "random_checkpoints.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: write_random_checkpoints FOLDER\n", stderr);
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  for (const char* name : {"marian",   "t5",      "t5-v1_1", "gpt2",        "llama",      "smollm",  "qwen2",
                           "llama3",   "bert",    "roberta", "xlm-roberta", "distilbert", "albert",  "electra",
                           "gpt_neox", "gpt_neo", "phi",     "opt",         "bloom",      "qwen3",   "llama-dynamic",
                           "mistral",  "gemma2",  "gemma3",  "bart",        "mbart",      "m2m_100", "pegasus"})
    attnscope::write_random_checkpoint(name, std::filesystem::path(argv[1]) / name);
}
