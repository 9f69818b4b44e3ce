#include "config/presets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/split.h"

namespace attnscope {
namespace {

constexpr Preset preset_table[] = {
    {"tiny", "2 + 2 layers of width 128; learns the built-in corpora within minutes on a laptop.",
     "tokenizer.vocab_size=4000 model.num_heads=4 model.num_decoder_layers=2 model.d_ff=512 "
     "model.positions=sinusoidal training.steps=6000 training.warmup_steps=1000"},
    {"small",
     "3 + 3 layers of width 256, for tens of thousands of sentence pairs: hours on a laptop, minutes on a GPU.",
     "tokenizer.vocab_size=8000 model.d_model=256 model.num_heads=8 model.num_encoder_layers=3 "
     "model.num_decoder_layers=3 model.d_ff=1024 model.positions=sinusoidal training.batch_size=128 "
     "training.steps=20000 training.warmup_steps=2000"},
    {"base",
     "The base model of Attention Is All You Need (table 3): 6 + 6 layers of width 512. For a GPU and millions of "
     "pairs.",
     "tokenizer.vocab_size=32000 model.d_model=512 model.num_heads=8 model.num_encoder_layers=6 "
     "model.num_decoder_layers=6 model.d_ff=2048 model.positions=sinusoidal training.batch_size=256 "
     "training.steps=100000 training.warmup_steps=4000 training.validation_interval=1000"},
    {"modern",
     "The building blocks of language models since Llama (arXiv 2302.13971): RMSNorm before every sublayer, SwiGLU, "
     "RoPE, grouped-query attention, no biases. d_ff is two thirds of the usual size to make up for SwiGLU's third "
     "matrix.",
     "model.norm=pre model.norm_kind=rms model.activation=swiglu model.num_decoder_layers=2 model.d_ff=344 "
     "model.positions=rope model.num_heads=4 model.num_kv_heads=2 model.biases=false model.scaled_embeddings=false "
     "training.steps=6000 training.optimizer=adamw training.schedule=cosine training.learning_rate=0.002 "
     "training.warmup_steps=1000"},
    {"nanogpt-cpu",
     "nanoGPT's character-level language model for a CPU. On tiny shakespeare: 1.88 nats per character after 2000 "
     "steps.",
     "tokenizer.type=char model.architecture=decoder-only model.num_heads=4 model.num_decoder_layers=4 "
     "model.d_ff=512 model.initialization=unit "
     "model.norm=pre model.activation=gelu model.positions=learned model.dropout=0 model.max_length=64 "
     "training.steps=2000 training.batch_size=12 training.optimizer=adamw training.beta2=0.99 "
     "training.schedule=cosine training.learning_rate=0.001 training.min_learning_rate=0.0001 "
     "training.warmup_steps=100 training.label_smoothing=0 training.validation_interval=250"},
    {"nanogpt-gpu",
     "nanoGPT's character-level language model for a GPU. On tiny shakespeare: 1.47 nats per character within 5000 "
     "steps.",
     "tokenizer.type=char model.architecture=decoder-only model.d_model=384 model.num_heads=6 "
     "model.num_decoder_layers=6 model.d_ff=1536 model.initialization=unit model.norm=pre model.activation=gelu "
     "model.positions=learned model.dropout=0.2 model.max_length=256 training.steps=5000 training.optimizer=adamw "
     "training.beta2=0.99 training.schedule=cosine training.learning_rate=0.001 training.min_learning_rate=0.0001 "
     "training.warmup_steps=100 training.label_smoothing=0 training.validation_interval=250"},
    {"bert-mini",
     "A masked language model (arXiv 1810.04805), small enough for a CPU: 4 encoder layers of width 128 that predict "
     "15 "
     "% of the tokens from both sides.",
     "tokenizer.vocab_size=4000 model.architecture=masked-lm model.num_heads=4 "
     "model.num_encoder_layers=4 model.d_ff=512 model.final_norm=false model.activation=gelu model.positions=learned "
     "model.scaled_embeddings=false model.embedding_norm=true model.output_bias=true model.max_length=64 "
     "training.steps=6000 training.batch_size=32 training.optimizer=adamw training.weight_decay=0.01 "
     "training.beta2=0.999 training.schedule=cosine training.learning_rate=0.001 training.warmup_steps=600 "
     "training.label_smoothing=0"},
    {"classifier",
     "A text classifier (corpus verdicts, or lines of text, tab, label): 2 encoder layers of width 64 with attention "
     "pooling.",
     "model.architecture=classifier model.d_model=64 model.num_heads=4 model.d_ff=256 model.positions=sinusoidal "
     "training.steps=2000 training.schedule=constant "
     "training.learning_rate=0.001 training.warmup_steps=100 training.label_smoothing=0"},
    {"bentrevett",
     "The Transformer of Ben Trevett's tutorials: 29 000 image captions, German to English, BLEU 36.5 after 10 epochs.",
     "corpus.lowercase=true corpus.held_out=1 tokenizer.vocab_size=10000 model.d_model=256 model.num_heads=8 "
     "model.num_encoder_layers=3 model.num_decoder_layers=3 model.d_ff=512 model.positions=learned "
     "model.tied_embeddings=false "
     "training.steps=2270 training.batch_size=128 training.beta2=0.999 training.schedule=constant "
     "training.learning_rate=0.0005 training.warmup_steps=1 training.label_smoothing=0 "
     "training.validation_interval=227"},
    {"revisit-tiny",
     "The tiny model of Good for Misconceived Reasons (arXiv 2105.14462): 29 000 image captions, English to German, "
     "BLEU 41.0 with beam 5 and 10 averaged checkpoints.",
     // The factor is 5e-3 · √(d_model · warm-up): a peak of 5e-3.
     "corpus.lowercase=true corpus.held_out=1 tokenizer.vocab_size=10000 model.num_heads=4 model.num_encoder_layers=4 "
     "model.num_decoder_layers=4 model.d_ff=256 model.positions=sinusoidal model.dropout=0.3 training.steps=8000 "
     "training.batch_tokens=4096 training.noam_factor=2.5298 training.warmup_steps=2000 "
     "training.checkpoint_interval=100 training.kept_checkpoints=10"},
};

}  // namespace

std::span<const Preset> presets() {
  return preset_table;
}

const Preset& preset(std::string_view name) {
  for (const Preset& known : preset_table) {
    if (known.name == name) return known;
  }
  throw ConfigError(fmt::format("there is no preset \"{}\", allowed: {}", name, preset_names()));
}

Config with_preset(const Preset& preset, const CorpusConfig& corpus) {
  Config config;
  config.corpus = corpus;
  config.corpus.lowercase = CorpusConfig().lowercase;  // the preset decides the case
  config.corpus.held_out = CorpusConfig().held_out;
  for (const std::string_view field : split(preset.fields, " ")) {
    const auto [key, value] = halves(field, "=");
    set_field(config, key, value);
  }
  return config;
}

std::string preset_names() {
  std::vector<std::string_view> names;
  for (const Preset& known : preset_table) names.push_back(known.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace attnscope
