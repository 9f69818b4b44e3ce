#include "circuit/sweep.h"

#include <numeric>

namespace attnscope {
namespace {

std::vector<int> up_to(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Collects the runs of all grids, so that they are made side by side.
class Sweeper {
 public:
  Sweeper(const TwinRuns& runs, Twin of, ChangeKind kind) : runs_(runs), of_(of), kind_(kind) {}

  void add_tokens(EffectGrid& grid, ValueKind value, AttentionPart stack, int layers) {
    const int positions = runs_.positions(stack);
    begin(grid, layers, positions);
    for (int layer = 0; layer < layers; ++layer)
      for (int position = 0; position < positions; ++position) add({value, stack, layer}, {}, {position});
  }

  void add_heads(EffectGrid& whole, std::vector<EffectGrid>& rows, AttentionPart part, int layers) {
    const AttentionPart queries = part == AttentionPart::encoder ? part : AttentionPart::decoder;
    const int heads = static_cast<int>(runs_.config().num_heads);
    const int positions = runs_.positions(queries);
    begin(whole, layers, heads);
    for (int layer = 0; layer < layers; ++layer)
      for (int head = 0; head < heads; ++head) add({ValueKind::heads, part, layer}, {head}, up_to(positions));
    rows.resize(static_cast<std::size_t>(layers));
    for (int layer = 0; layer < layers; ++layer) {
      begin(rows[static_cast<std::size_t>(layer)], heads, positions);
      for (int head = 0; head < heads; ++head)
        for (int position = 0; position < positions; ++position)
          add({ValueKind::heads, part, layer}, {head}, {position});
    }
  }

  void run(const Breath& breathe) {
    const std::vector<Odds> odds = runs_.read(changed_, breathe);
    std::size_t next = 0;
    for (EffectGrid* grid : grids_) {
      for (Effect& effect : grid->effects) {
        const Odds& now = odds[next++];
        effect = {static_cast<float>(runs_.share(of_, now.margin)), static_cast<float>(now.margin), now.best};
      }
    }
  }

 private:
  void begin(EffectGrid& grid, int rows, int cols) {
    grid = {rows, cols, std::vector<Effect>(static_cast<std::size_t>(rows) * cols)};
    grids_.push_back(&grid);
  }

  void add(const ValueSite& site, std::vector<int> heads, std::vector<int> positions) {
    changed_.push_back({of_, {Change{kind_, site, std::move(heads), std::move(positions), {}, {}}}});
  }

  const TwinRuns& runs_;
  Twin of_;
  ChangeKind kind_;
  std::vector<ChangedRun> changed_;
  std::vector<EffectGrid*> grids_;
};

}  // namespace

Sweep sweep(const TwinRuns& runs, Twin of, ChangeKind kind, const Breath& breathe) {
  using enum AttentionPart;
  const ModelConfig& model = runs.config();
  const bool translates = !model.is_language_model();
  const int read = static_cast<int>(model.num_encoder_layers), written = static_cast<int>(model.num_decoder_layers);
  Sweep result;
  result.of = of;
  result.kind = kind;
  Sweeper sweeper(runs, of, kind);
  if (translates) {
    sweeper.add_tokens(result.encoder_states, ValueKind::state, encoder, read + 1);
    sweeper.add_tokens(result.encoder_feed_forward, ValueKind::feed_forward, encoder, read);
    sweeper.add_heads(result.encoder_heads, result.encoder_rows, encoder, read);
    sweeper.add_heads(result.cross_heads, result.cross_rows, cross, written);
  }
  sweeper.add_tokens(result.decoder_states, ValueKind::state, decoder, written + 1);
  sweeper.add_tokens(result.decoder_feed_forward, ValueKind::feed_forward, decoder, written);
  sweeper.add_heads(result.decoder_heads, result.decoder_rows, decoder, written);
  sweeper.run(breathe);
  return result;
}

}  // namespace attnscope
