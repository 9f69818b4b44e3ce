#include "inspect/circuit/sweep.h"

#include <numeric>

namespace attnscope {
namespace {

std::vector<int> up_to(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Collects the runs of all grids, to run them in batches.
class Sweeper {
 public:
  // `asked`: null, or the details of a sweep that needs more than a kind.
  Sweeper(const ContrastRuns& runs, ContrastSide of, ChangeKind kind, const SweepQuestion* asked = nullptr)
      : runs_(runs), of_(of), kind_(kind), asked_(asked) {}

  void add_tokens(EffectGrid& grid, EffectGrid& whole, ValueKind value, AttentionPart stack, int layers) {
    if (kind_ == ChangeKind::exchange) return;
    const int positions = runs_.positions(stack);
    begin(grid, layers, positions);
    begin(whole, layers, 1);
    for (int layer = 0; layer < layers; ++layer) {
      const ValueSite site{value, stack, layer};
      add(whole.at(layer, 0), site, {}, up_to(positions));
      for (int position = 0; position < positions; ++position) add(grid.at(layer, position), site, {}, {position});
    }
  }

  void add_heads(EffectGrid& whole, std::vector<EffectGrid>& rows, AttentionPart part) {
    const AttentionPart queries = part == AttentionPart::encoder ? part : AttentionPart::decoder;
    const auto [layers, heads] = part_size(runs_.config(), part);
    const int positions = runs_.positions(queries);
    begin(whole, layers, heads);
    rows.resize(static_cast<std::size_t>(layers));
    for (int layer = 0; layer < layers; ++layer) {
      const ValueSite site{ValueKind::heads, part, layer};
      EffectGrid& row = rows[static_cast<std::size_t>(layer)];
      begin(row, heads, positions);
      for (int head = 0; head < heads; ++head) {
        add(whole.at(layer, head), site, {head}, up_to(positions));
        for (int position = 0; position < positions; ++position) add(row.at(head, position), site, {head}, {position});
      }
    }
  }

  void run(const YieldCallback& yield) {
    const bool path = asked_ && !asked_->is_exchange();
    const std::vector<Odds> odds = path ? runs_.read(changed_, asked_->end, yield) : runs_.read(changed_, yield);
    for (std::size_t i = 0; i < odds.size(); ++i)
      *effects_[i] = {static_cast<float>(runs_.share(of_, odds[i].margin)), static_cast<float>(odds[i].margin),
                      odds[i].best};
  }

 private:
  static void begin(EffectGrid& grid, int rows, int cols) {
    grid = {rows, cols, std::vector<Effect>(static_cast<std::size_t>(rows) * cols)};
  }

  void add(Effect& effect, const ValueSite& site, std::vector<int> heads, std::vector<int> positions) {
    Change change{kind_, site, std::move(heads), std::move(positions), {}, {}};
    if (kind_ == ChangeKind::exchange) {
      // A word outside the decoder's context has no weight to lose.
      if (site.part == AttentionPart::decoder && !runs_.facts().language_model) return;
      change.one = asked_->one;
      change.other = asked_->other;
    } else if (asked_ && !goes_straight(site, asked_->end)) {
      return;
    }
    changed_.push_back({of_, {std::move(change)}});
    effects_.push_back(&effect);
  }

  const ContrastRuns& runs_;
  ContrastSide of_;
  ChangeKind kind_;
  const SweepQuestion* asked_;
  std::vector<ChangedRun> changed_;
  std::vector<Effect*> effects_;  // destinations of the results
};

Sweep swept(const ContrastRuns& runs, ContrastSide of, ChangeKind kind, const SweepQuestion* asked,
            const YieldCallback& yield) {
  using enum AttentionPart;
  const ModelConfig& model = runs.config();
  const bool translates = !model.is_language_model();
  const int read = static_cast<int>(model.num_encoder_layers), written = static_cast<int>(model.num_decoder_layers);
  // Along a path the states between layers are held fixed: only embeddings can differ.
  const auto states = [&](int layers) { return asked ? 1 : layers + 1; };
  Sweep result;
  result.of = of;
  result.kind = kind;
  Sweeper sweeper(runs, of, kind, asked);
  const bool forward = !model.is_recurrent() && model.has_feed_forward();
  if (translates) {
    sweeper.add_tokens(result.encoder_states, result.encoder_states_whole, ValueKind::state, encoder, states(read));
    if (forward)
      sweeper.add_tokens(result.encoder_feed_forward, result.encoder_feed_forward_whole, ValueKind::feed_forward,
                         encoder, read);
    sweeper.add_heads(result.encoder_heads, result.encoder_rows, encoder);
    sweeper.add_heads(result.cross_heads, result.cross_rows, cross);
  }
  if (!model.has_decoder()) {
    sweeper.run(yield);
    return result;
  }
  sweeper.add_tokens(result.decoder_states, result.decoder_states_whole, ValueKind::state, decoder, states(written));
  if (forward)
    sweeper.add_tokens(result.decoder_feed_forward, result.decoder_feed_forward_whole, ValueKind::feed_forward, decoder,
                       written);
  sweeper.add_heads(result.decoder_heads, result.decoder_rows, decoder);
  sweeper.run(yield);
  return result;
}

}  // namespace

Sweep sweep(const ContrastRuns& runs, ContrastSide of, ChangeKind kind, const YieldCallback& yield) {
  return swept(runs, of, kind, nullptr, yield);
}

Sweep sweep(const ContrastRuns& runs, ContrastSide of, const SweepQuestion& asked, const YieldCallback& yield) {
  return swept(runs, of, asked.is_exchange() ? ChangeKind::exchange : ChangeKind::contrast, &asked, yield);
}

}  // namespace attnscope
