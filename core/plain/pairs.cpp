#include "plain/pairs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plain/split.h"

namespace attnscope {
namespace {

// Small enough that both have learned what is to be seen within five minutes on two cores.
constexpr ClassicPair pair_table[] = {
    {"scale", "÷ √d_k, on and off",
     "corpus.source=reverse tokenizer.type=char model.d_model=512 model.num_heads=1 model.d_ff=128 "
     "model.initialization=unit model.num_encoder_layers=1 model.num_decoder_layers=1 training.steps=1000 "
     "training.batch_size=16 training.schedule=constant training.learning_rate=0.0005 training.warmup_steps=50 "
     "training.validation_interval=100",
     "model.scaled_attention=true", "model.scaled_attention=false",
     "Without ÷ √d_k the scores of 512 dimensions are so large that softmax picks one key from the first update on, "
     "where its gradient is almost 0: A finds the other diagonal, and B's validation loss stays where it was.",
     "h e l l o w o r l d"},
    {"norm", "Pre-norm and post-norm, deep",
     "corpus.source=reverse tokenizer.type=char model.d_model=64 model.num_heads=4 model.d_ff=128 "
     "model.num_encoder_layers=6 model.num_decoder_layers=6 training.steps=400 training.batch_size=32 "
     "training.schedule=constant training.learning_rate=0.002 training.warmup_steps=1 training.validation_interval=50",
     "model.norm=pre", "model.norm=post",
     "Post-norm's gradients are largest near the output: without a warm-up six layers of it hardly learn, while "
     "pre-norm goes down from the first update.",
     "h e l l o w o r l d"},
    {"positions", "Sinusoids and no positions",
     "corpus.source=reverse tokenizer.type=char model.d_model=64 model.num_heads=4 model.num_decoder_layers=2 "
     "model.d_ff=128 training.steps=2000 "
     "training.batch_size=32 training.warmup_steps=200 training.validation_interval=100",
     "model.positions=sinusoidal", "model.positions=none",
     "Without positions the encoder sees a bag of letters: B knows which ones to write and not in what order, and its "
     "loss stays where A's passes through.",
     "h e l l o w o r l d"},
    {"smoothing", "Label smoothing 0 and 0.1",
     "model.d_model=64 model.num_heads=2 model.num_decoder_layers=2 model.d_ff=128 tokenizer.vocab_size=1000 "
     "training.steps=3000 "
     "training.batch_size=32 training.warmup_steps=300 training.validation_interval=100",
     "training.label_smoothing=0", "training.label_smoothing=0.1",
     "B's training loss ends far above A's and yet it translates as well: look at the candidates in Decoding, whose "
     "best "
     "one B gives about 0.9 where A gives nearly 1.",
     "The animal didn't cross the street because it was too tired."},
    {"attention", "An LSTM without and with attention",
     "corpus.source=reverse tokenizer.type=char model.architecture=recurrent model.cell=lstm model.d_model=64 "
     "training.steps=600 training.batch_size=32 training.schedule=constant training.learning_rate=0.002 "
     "training.warmup_steps=100 training.validation_interval=50",
     "model.attention=none", "model.attention=bahdanau",
     "A must put the whole word into one vector; B looks back at every letter, and its map becomes the other "
     "diagonal.",
     "h e l l o w o r l d"},
    {"forcing", "Teacher forcing always and never",
     "corpus.source=reverse tokenizer.type=char model.architecture=recurrent model.cell=gru model.d_model=64 "
     "training.steps=1500 training.batch_size=32 training.schedule=constant training.learning_rate=0.002 "
     "training.warmup_steps=100 training.validation_interval=100",
     "training.teacher_forcing=1", "training.teacher_forcing=0",
     "A is told every letter before it writes the next one and learns from the first update on; B goes on from its own "
     "letters, which are wrong at first, so that it learns late.",
     "h e l l o w o r l d"},
    {"heads", "One head and eight",
     "model.d_model=64 model.num_decoder_layers=2 model.d_ff=128 tokenizer.vocab_size=1000 training.steps=3000 "
     "training.batch_size=32 "
     "training.warmup_steps=300 training.validation_interval=100",
     "model.num_heads=1", "model.num_heads=8",
     "The same number of weights: B's eight narrow heads share the work, one looks at the word before, another at the "
     "noun; A's one head has to do all of it at once.",
     "The animal didn't cross the street because it was too tired."},
    {"warmup", "Warm-up of 1 and of 1000 updates",
     "corpus.source=reverse tokenizer.type=char model.d_model=64 model.num_heads=4 model.d_ff=128 "
     "model.num_encoder_layers=3 model.num_decoder_layers=3 training.steps=1200 training.batch_size=32 "
     "training.schedule=constant training.learning_rate=0.003 training.validation_interval=100",
     "training.warmup_steps=1", "training.warmup_steps=1000",
     "A begins at the full rate and is thrown about before Adam has measured its gradients; B begins slowly and "
     "overtakes it.",
     "h e l l o w o r l d"},
};

void set_fields(Config& config, std::string_view fields) {
  for (const std::string_view field : split(fields, " ")) {
    const auto [key, value] = halves(field, "=");
    set_field(config, key, value);
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
  a.model.positions = "sinusoidal";  // as the papers had it from which the pairs are taken
  set_fields(a, pair.fields);
  Config b = a;
  set_fields(a, pair.a);
  set_fields(b, pair.b);
  return {a, b};
}

}  // namespace attnscope
