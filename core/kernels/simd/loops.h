// The loops behind the fused operators, over plain arrays of float, one thread each. They are compiled once for every
// level of processor (see the folder's CMakeLists.txt); this header is what the levels have in common.
//
// Matrices are row by row; a `stride` is the distance between rows, in floats. Shape letters: model/model.h.
#pragma once

#include <cstdint>

namespace attnscope {

// What one use of dropout draws from (Threefry): the same key gives the same mask, so that a backward pass makes it
// anew instead of keeping it.
struct DropoutKey {
  std::uint32_t words[4] = {};
};

// Which elements are dropped and what the others are multiplied by.
struct DropoutRule {
  DropoutKey key;
  std::uint32_t threshold = 0;  // of 65536: a draw below it is dropped; 0: none is, and nothing is drawn
  float scale = 1;              // 65536 / (65536 − threshold)
};

// Weight matrices are stored with rows of this many floats' multiple, whatever the level: the mask of a row must not
// depend on the processor.
constexpr std::int64_t key_padding = 16;

// One head of one pair of the batch.
struct HeadShape {
  std::int64_t queries = 0, keys = 0, padded_keys = 0, d = 0;           // padded_keys: the stride of weights
  std::int64_t query_stride = 0, memory_stride = 0, output_stride = 0;  // of q; of k and v; of the output
  std::int64_t bias_stride = 0;
  float scale = 1;
  std::int64_t first_visible = 0;  // query i sees keys j ≤ i + first_visible; keys if nothing is hidden
  // Shaw: the rows of the tables are of these distances, from the first on; what lies beyond counts as their ends.
  std::int64_t first_distance = 0, num_distances = 0;
  std::int64_t table_stride = 0;  // of the transposed table
};

// What a head reads; null where there is none.
struct HeadInput {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  const float* bias = nullptr;    // queries×keys, bias_stride apart
  const bool* padding = nullptr;  // keys
  // Of Shaw's a^K and a^V the one that scores are taken with (forward a^K, backward a^V), transposed: d rows that may
  // be read on to the next multiple of key_padding; and the other one, num_distances×d.
  const float *transposed_table = nullptr, *table = nullptr;
  std::uint64_t stream = 0;  // of the dropout, one a head and pair
};

// Where the gradients of a head's input go; null where none is wanted. dq, dk and dv are overwritten, the others added
// to: many heads share them.
struct HeadGradients {
  float *q = nullptr, *k = nullptr, *v = nullptr;
  float* bias = nullptr;
  float *relative_k = nullptr, *relative_v = nullptr;  // null: they are not learned
};

enum class Activation { none, relu, gelu };

struct AdamRule {
  float beta1 = 0, beta2 = 0, epsilon = 0;
  float gradient_scale = 1;   // of clipping
  float step = 0;             // learning rate / (1 − β1^t)
  float root_correction = 1;  // √(1 − β2^t)
};

struct Loops {
  // mask[i] = 0 or rule.scale for the n elements of `stream`.
  void (*dropout_mask)(const DropoutRule& rule, std::uint64_t stream, std::int64_t n, float* mask);

  // Floats of scratch that one call for a head needs.
  std::int64_t (*head_scratch)(const HeadShape& shape);
  // weights: queries×padded_keys, softmax's, before dropout; zero in the padding. output: queries×d
  void (*head_forward)(const HeadShape& shape, const HeadInput& input, const DropoutRule& rule, float* weights,
                       float* output, float* scratch);
  void (*head_backward)(const HeadShape& shape, const HeadInput& input, const DropoutRule& rule, const float* weights,
                        const float* output_gradient, const HeadGradients& gradients, float* scratch);

  // Each row of x, whose heads have d dimensions, turned by that row's rotation (cos, sin; …): RoPE. `sign` −1 turns
  // back.
  void (*rotate)(std::int64_t num_heads, std::int64_t d, const float* rotation, float sign, const float* x, float* y);

  // y (columns×rows, rows of y_stride) = xᵀ, and 0 where its rows go on.
  void (*transpose)(std::int64_t rows, std::int64_t columns, const float* x, std::int64_t stride, float* y,
                    std::int64_t y_stride);

  // sums += the sums of the columns.
  void (*add_column_sums)(std::int64_t rows, std::int64_t columns, const float* x, float* sums);

  // y = activation(x + bias) · mask; bias null: none; x and y may be the same.
  void (*activate)(Activation activation, const DropoutRule& rule, std::int64_t rows, std::int64_t columns,
                   const float* x, const float* bias, float* y);
  // dx from dy; x: what went in (GELU), y: what came out (ReLU).
  void (*activate_backward)(Activation activation, const DropoutRule& rule, std::int64_t rows, std::int64_t columns,
                            const float* x, const float* y, const float* dy, float* dx);

  // sum = x + added · mask.
  void (*residual)(const DropoutRule& rule, std::int64_t rows, std::int64_t columns, const float* x, const float* added,
                   float* sum);
  // y = dy · mask: the gradient of `added`.
  void (*drop)(const DropoutRule& rule, std::int64_t rows, std::int64_t columns, const float* x, float* y);
  // Each row of x brought to mean 0 and variance 1, times gain, plus bias. mean and scale (1/√(variance + ε)): rows
  void (*normalise)(std::int64_t rows, std::int64_t columns, float epsilon, const float* x, const float* gain,
                    const float* bias, float* mean, float* scale, float* y);
  // The gradients of gain and bias are added to.
  void (*normalise_backward)(std::int64_t rows, std::int64_t columns, const float* x, const float* gain,
                             const float* mean, const float* scale, const float* dy, float* dx, float* gain_gradient,
                             float* bias_gradient);

  // y = (table[id] · factor + position[l]) · mask for `rows` ids, l = row mod length; positions null: none.
  void (*embed)(const DropoutRule& rule, std::int64_t rows, std::int64_t length, std::int64_t columns,
                const std::int64_t* ids, const float* table, float factor, const float* positions, float* y);
  // Adds to the gradients of the table, but at ids that are padding_id, and of the positions.
  void (*embed_backward)(const DropoutRule& rule, std::int64_t rows, std::int64_t length, std::int64_t columns,
                         const std::int64_t* ids, std::int64_t padding_id, float factor, const float* dy,
                         float* table_gradient, float* position_gradient, float* scratch);

  // Recurrent cells; see kernels/cells.h. `gates`, as they came out of their squashing, are kept for the way back.
  void (*lstm)(std::int64_t rows, std::int64_t hidden, const float* from_input, const float* from_state, const float* c,
               float* gates, float* next_c, float* next_h);
  void (*lstm_backward)(std::int64_t rows, std::int64_t hidden, const float* gates, const float* c, const float* next_c,
                        const float* dh, const float* dc_above, float* dgates, float* dc);
  void (*gru)(std::int64_t rows, std::int64_t hidden, const float* from_input, const float* from_state, const float* h,
              float* gates, float* next_h);
  void (*gru_backward)(std::int64_t rows, std::int64_t hidden, const float* gates, const float* from_state,
                       const float* h, const float* dh_above, float* dfrom_input, float* dfrom_state, float* dh);

  // Of one row of logits: Σ of −log p, smoothed. With `gradient`, the logits become it, times `weight`.
  float (*cross_entropy_row)(std::int64_t vocab_size, std::int64_t target, float smoothing, bool gradient, float weight,
                             float* logits);

  // The sum of the squares, the gradients of other parts of the batch having been added to the first.
  double (*gather_gradients)(std::int64_t n, int parts, float* const* gradients);
  // One update of n parameters; with `decay`, those where decayed[i] is 1 first lose that share of themselves.
  // Gradients become 0.
  void (*adam)(const AdamRule& rule, std::int64_t n, float decay, const float* decayed, float* parameters,
               float* gradients, float* exp_avg, float* exp_avg_sq);

  // Of each number the nearest bfloat16, ties to even: as the float it is, and as its upper 16 bits. Rows of x lie
  // `stride` apart, those of y side by side.
  void (*round_to_bfloat16)(std::int64_t rows, std::int64_t columns, std::int64_t stride, const float* x, float* y);
  void (*pack_bfloat16)(std::int64_t rows, std::int64_t columns, std::int64_t stride, const float* x, std::uint16_t* y);

  // y += factor · x
  void (*add_scaled)(std::int64_t n, float factor, const float* x, float* y);
};

}  // namespace attnscope
