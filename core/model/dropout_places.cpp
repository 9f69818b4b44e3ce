#include "model/dropout_places.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "model/kernels/attention.h"
#include "model/kernels/dropout.h"

namespace attnscope {
namespace {

using Columns = DropoutPlace::Columns;

class DropoutOrder {
 public:
  DropoutOrder(const ModelConfig& config, const DroppedPass& pass) : config_(config), pass_(pass) {}

  std::vector<PlacedDropout> places() && {
    if (config_.has_encoder()) encoder();
    if (config_.has_decoder()) {
      const std::int64_t before = drawn_;
      decoder(1);  // a free-running step draws the same dropouts as a pass over one position
      const std::int64_t a_step = drawn_ - before;
      drop_decoder();
      drawn_ = before + pass_.free_steps * a_step;
      decoder(pass_.target_length);
    }
    if (config_.is_classifier()) add({"classifier input", true});
    return std::move(places_);
  }

 private:
  void add(DropoutPlace place) { places_.push_back({std::move(place), drawn_++}); }
  void add_read(DropoutPlace place) { places_.push_back({std::move(place), drawn_++, 0, config_.is_recurrent()}); }

  void drop_decoder() {
    std::erase_if(places_, [](const PlacedDropout& dropout) { return dropout.place.of_target; });
  }

  void encoder() {
    add_read({"source embedding", false});
    for (std::int64_t layer = 1; layer <= config_.num_encoder_layers; ++layer) {
      if (config_.is_recurrent()) {
        if (layer > 1) add_read({fmt::format("between encoder layers {} and {}", layer - 1, layer), false});
      } else {
        self_attention("encoder", layer, false);
        feed_forward("encoder", layer, false);
      }
    }
  }

  void decoder(std::int64_t positions) {
    add_read({config_.has_encoder() ? "decoder input embedding" : "embedding", true});
    if (config_.is_recurrent()) return recurrent_decoder(positions);
    const std::string stack = config_.has_encoder() ? "decoder" : "";
    for (std::int64_t layer = 1; layer <= config_.num_decoder_layers; ++layer) {
      self_attention(stack, layer, true);
      if (config_.has_encoder()) cross_attention(stack, layer);
      feed_forward(stack, layer, true);
    }
  }

  // Attention before the step (Bahdanau) runs all layers at each position.
  void recurrent_decoder(std::int64_t positions) {
    const std::int64_t between = config_.num_decoder_layers - 1;
    const bool by_position = config_.attention == "bahdanau";
    for (std::int64_t layer = 1; layer <= between; ++layer) {
      places_.push_back({{fmt::format("between decoder layers {} and {}", layer, layer + 1), true},
                         drawn_ + layer - 1,
                         by_position ? between : 0,
                         !by_position});
    }
    drawn_ += by_position ? between * positions : between;
    add({"input of the output layer", true});
  }

  static std::string in_layer(const std::string& stack, std::int64_t layer, const char* what) {
    return fmt::format("{}{}layer {}: {}", stack, stack.empty() ? "" : " ", layer, what);
  }

  void self_attention(const std::string& stack, std::int64_t layer, bool of_target) {
    const Columns keys = of_target ? Columns::target : Columns::source;
    add({in_layer(stack, layer, "self-attention weights"), of_target, keys});
    add({in_layer(stack, layer, "self-attention output"), of_target});
  }

  void cross_attention(const std::string& stack, std::int64_t layer) {
    add({in_layer(stack, layer, "cross-attention weights"), true, Columns::source});
    add({in_layer(stack, layer, "cross-attention output"), true});
  }

  void feed_forward(const std::string& stack, std::int64_t layer, bool of_target) {
    if (!config_.has_feed_forward()) return;
    add({in_layer(stack, layer, "hidden units"), of_target, Columns::hidden_units});
    add({in_layer(stack, layer, "feed-forward output"), of_target});
  }

  const ModelConfig& config_;
  const DroppedPass& pass_;
  std::int64_t drawn_ = 0;
  std::vector<PlacedDropout> places_;
};

// For states B×L×columns; L×B×columns in recurrent networks.
torch::Tensor mask_of_states(std::int64_t rows, std::int64_t length, std::int64_t columns, bool time_first, double p) {
  if (time_first) return kernels::dropout(torch::ones({length, rows, columns}), p).select(1, 0);
  return kernels::dropout(torch::ones({rows, length, columns}), p).select(0, 0);
}

}  // namespace

std::vector<PlacedDropout> dropout_places(const ModelConfig& config, const DroppedPass& pass) {
  return DropoutOrder(config, pass).places();
}

torch::Tensor dropout_of_row(const PlacedDropout& dropout, const ModelConfig& config, const DroppedPass& pass,
                             const DropoutDraw& draw) {
  const DropoutPlace& place = dropout.place;
  const double p = config.dropout;
  const std::int64_t length = place.of_target ? pass.target_length : pass.source_length;
  const auto scope = [&](std::int64_t drawn) {
    return kernels::DropoutScope(draw.seed, draw.number, draw.part, drawn);
  };
  if (dropout.stride > 0) {
    std::vector<torch::Tensor> positions;
    for (std::int64_t position = 0; position < length; ++position) {
      const auto scoped = scope(dropout.drawn + position * dropout.stride);
      positions.push_back(mask_of_states(pass.rows, 1, config.d_model, false, p));
    }
    return torch::cat(positions);
  }
  const auto scoped = scope(dropout.drawn);
  if (place.columns == Columns::source || place.columns == Columns::target) {
    const std::int64_t keys = place.columns == Columns::source ? pass.source_length : pass.target_length;
    const std::int64_t heads = config.of_layer(place.of_target, 0).num_heads;
    return kernels::weights_mask({pass.rows, heads, length, keys}, p).select(0, 0).flatten(0, 1);
  }
  const bool hidden = place.columns == Columns::hidden_units;
  return mask_of_states(pass.rows, length, hidden ? config.of_layer(place.of_target, 0).d_ff : config.d_model,
                        dropout.time_first, p);
}

}  // namespace attnscope
