#include "config/pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/split.h"
#include "config/presets.h"

namespace attnscope {
namespace {

// Small enough that both show the effect within five minutes on two cores.
constexpr ClassicPair pair_table[] = {
    {"scale", "With and without ÷ √d_k",
     "corpus.source=reverse tokenizer.type=char model.d_model=512 model.num_heads=1 model.d_ff=128 "
     "model.initialization=unit model.num_encoder_layers=1 model.num_decoder_layers=1 training.steps=1000 "
     "training.batch_size=16 training.schedule=constant training.learning_rate=0.0005 training.warmup_steps=50 "
     "training.validation_interval=100",
     "model.scaled_attention=true", "model.scaled_attention=false",
     "Without ÷ √d_k the scores of 512 dimensions are so large that the softmax picks one key from the first step, "
     "where its gradient is almost 0. A learns the antidiagonal; B's validation loss does not move.",
     "h e l l o w o r l d"},
    {"norm", "Deep pre-norm and post-norm",
     "corpus.source=reverse tokenizer.type=char model.d_model=64 model.num_heads=4 model.d_ff=128 "
     "model.num_encoder_layers=6 model.num_decoder_layers=6 training.steps=400 training.batch_size=32 "
     "training.schedule=constant training.learning_rate=0.002 training.warmup_steps=1 training.validation_interval=50",
     "model.norm=pre", "model.norm=post",
     "With post-norm the gradients are largest near the output, so six layers hardly learn without warm-up. With "
     "pre-norm the loss falls from the first step.",
     "h e l l o w o r l d"},
    {"positions", "Sinusoids and no positions",
     "corpus.source=reverse tokenizer.type=char model.d_model=64 model.num_heads=4 model.num_decoder_layers=2 "
     "model.d_ff=128 training.steps=2000 "
     "training.batch_size=32 training.warmup_steps=200 training.validation_interval=100",
     "model.positions=sinusoidal", "model.positions=none",
     "Without positions the encoder sees a bag of letters. B learns which letters to output but not their order, and "
     "its loss levels off early.",
     "h e l l o w o r l d"},
    {"smoothing", "Label smoothing 0 and 0.1",
     "model.d_model=64 model.num_heads=2 model.num_decoder_layers=2 model.d_ff=128 tokenizer.vocab_size=1000 "
     "training.steps=3000 "
     "training.batch_size=32 training.warmup_steps=300 training.validation_interval=100",
     "training.label_smoothing=0", "training.label_smoothing=0.1",
     "B's training loss ends far above A's, yet it translates as well. Compare the candidates in Decoding: B gives the "
     "best one a probability of about 0.9, A nearly 1.",
     "The animal didn't cross the street because it was too tired."},
    {"attention", "LSTM without and with attention",
     "corpus.source=reverse tokenizer.type=char model.architecture=recurrent model.cell=lstm model.d_model=64 "
     "training.steps=600 training.batch_size=32 training.schedule=constant training.learning_rate=0.002 "
     "training.warmup_steps=100 training.validation_interval=50",
     "model.attention=none", "model.attention=bahdanau",
     "A has to compress the whole word into one vector. B attends to every letter, and its attention map becomes the "
     "antidiagonal.",
     "h e l l o w o r l d"},
    {"architecture", "LSTM and Transformer",
     "model.cell=lstm model.d_model=64 model.num_heads=2 model.num_decoder_layers=2 model.d_ff=128 "
     "tokenizer.vocab_size=1000 training.steps=1500 training.batch_size=32 training.schedule=constant "
     "training.learning_rate=0.002 training.warmup_steps=100 training.validation_interval=100",
     "model.architecture=recurrent", "model.architecture=encoder-decoder",
     "Both learn from the same pairs with the same width. A reads word by word and hands on one state; in B every word "
     "attends to every other. Compare their losses, and the tokens per second.",
     "The animal didn't cross the street because it was too tired."},
    {"forcing", "Teacher forcing: always and never",
     "corpus.source=reverse tokenizer.type=char model.architecture=recurrent model.cell=gru model.d_model=64 "
     "training.steps=1500 training.batch_size=32 training.schedule=constant training.learning_rate=0.002 "
     "training.warmup_steps=100 training.validation_interval=100",
     "training.teacher_forcing=1", "training.teacher_forcing=0",
     "A is fed the correct previous letter at every position and learns from the first step. B is fed its own letters, "
     "which are wrong at first, so it learns late.",
     "h e l l o w o r l d"},
    {"heads", "One head and eight",
     "model.d_model=64 model.num_decoder_layers=2 model.d_ff=128 tokenizer.vocab_size=1000 training.steps=3000 "
     "training.batch_size=32 "
     "training.warmup_steps=300 training.validation_interval=100",
     "model.num_heads=1", "model.num_heads=8",
     "Both have the same number of weights. B's eight narrow heads can specialize: one attends to the previous word, "
     "another to the noun. A's single head has to do all of it.",
     "The animal didn't cross the street because it was too tired."},
    {"warmup", "Warm-up of 1 and 1000 steps",
     "corpus.source=reverse tokenizer.type=char model.d_model=64 model.num_heads=4 model.d_ff=128 "
     "model.num_encoder_layers=3 model.num_decoder_layers=3 training.steps=1200 training.batch_size=32 "
     "training.schedule=constant training.learning_rate=0.003 training.validation_interval=100",
     "training.warmup_steps=1", "training.warmup_steps=1000",
     "A starts at the full rate and becomes unstable before Adam has estimated its gradients. B starts slowly and "
     "overtakes it.",
     "h e l l o w o r l d"},
    {"layers", "Induction heads: two layers and one", "preset=induction-heads", "model.num_decoder_layers=2",
     "model.num_decoder_layers=1",
     "After a few hundred steps A predicts the repeated tokens: its second layer reads what the first one wrote about "
     "the "
     "token before. B has one layer and cannot. Compare their losses, and Mechanisms, Induction heads.",
     "a b c d e f g h a b c d"},
};

void set_fields(Config& config, std::string_view fields) {
  for (const std::string_view field : split(fields, " ")) {
    const auto [key, value] = halves(field, "=");
    if (key == "preset") {
      set_fields(config, preset(value).fields);
    } else {
      set_field(config, key, value);
    }
  }
}

}  // namespace

std::span<const ClassicPair> classic_pairs() {
  return pair_table;
}

const ClassicPair& classic_pair(std::string_view name) {
  const auto found = std::ranges::find(pair_table, name, &ClassicPair::name);
  if (found != std::end(pair_table)) return *found;
  std::vector<std::string_view> names;
  for (const ClassicPair& pair : pair_table) names.push_back(pair.name);
  throw ConfigError(fmt::format("there is no pair \"{}\", allowed: {}", name, fmt::join(names, ", ")));
}

std::pair<Config, Config> configurations(const ClassicPair& pair) {
  Config a;
  a.model.positions = "sinusoidal";  // as in the papers the pairs come from
  set_fields(a, pair.fields);
  Config b = a;
  set_fields(a, pair.a);
  set_fields(b, pair.b);
  return {a, b};
}

}  // namespace attnscope
