// The loops behind the fused operators, on plain arrays of float, single-threaded. They are compiled once per processor
// level (see the folder's CMakeLists.txt); this header is common to all levels.
//
// Matrices are row-major; a `stride` is the distance between rows in floats. Shape letters: model/model.h.
#pragma once

#include <cstdint>

namespace attnscope {

// Identifies the random numbers of one dropout (Threefry): the same key gives the same mask, so that a backward pass
// recomputes it instead of storing it.
struct DropoutKey {
  std::uint32_t words[4] = {};
};

// Decides which elements are dropped, and scales the others.
struct DropoutRule {
  DropoutKey key;
  std::uint32_t threshold = 0;  // out of 65536: draws below it are dropped; 0: no dropout, nothing is drawn
  float scale = 1;              // 65536 / (65536 − threshold)
};

// Rows of attention weights are padded to a multiple of this many floats at every level: the mask of a row must not
// depend on the processor.
constexpr std::int64_t key_padding = 16;

// One head of one sequence in the batch.
struct HeadShape {
  std::int64_t queries = 0, keys = 0, padded_keys = 0, d = 0;           // padded_keys: the stride of weights
  std::int64_t query_stride = 0, memory_stride = 0, output_stride = 0;  // of q; of k and v; of the output
  std::int64_t bias_stride = 0;
  float scale = 1;
  std::int64_t first_visible = 0;  // query i attends to keys j ≤ i + first_visible; equals `keys` without causal mask
  // Shaw: the rows of the tables hold these distances, starting at the first; farther distances use the first or last
  // row.
  std::int64_t first_distance = 0, num_distances = 0;
  std::int64_t table_stride = 0;  // of the transposed table
};

// The input of a head; null pointers if absent.
struct HeadInput {
  const float *q = nullptr, *k = nullptr, *v = nullptr;
  const float* bias = nullptr;    // queries×keys, bias_stride apart
  const bool* padding = nullptr;  // keys
  // Transposed: the table that scores use (forward a^K, backward a^V), as d rows that are readable up to the next
  // multiple of key_padding. The other table is num_distances×d.
  const float *transposed_table = nullptr, *table = nullptr;
  std::uint64_t stream = 0;  // of the dropout, one per head and sequence
};

// Output pointers for the gradients of a head's input; null if not needed. dq, dk and dv are overwritten; the others
// are accumulated, because many heads share them.
struct HeadGradients {
  float *q = nullptr, *k = nullptr, *v = nullptr;
  float* bias = nullptr;
  float *relative_k = nullptr, *relative_v = nullptr;  // null: not learned
};

enum class Activation { none, relu, gelu };

struct AdamRule {
  float beta1 = 0, beta2 = 0, epsilon = 0;
  float gradient_scale = 1;   // factor of gradient clipping
  float step = 0;             // learning rate / (1 − β1^t)
  float root_correction = 1;  // √(1 − β2^t)
};

struct Loops {
  // mask[i] = 0 or rule.scale for the n elements of `stream`.
  void (*dropout_mask)(const DropoutRule& rule, std::uint64_t stream, std::int64_t n, float* mask);

  // Floats of scratch memory needed by one call for a head.
  std::int64_t (*head_scratch)(const HeadShape& shape);
  // weights: queries×padded_keys, the softmax before dropout; zero in the padding. output: queries×d
  void (*head_forward)(const HeadShape& shape, const HeadInput& input, const DropoutRule& rule, float* weights,
                       float* output, float* scratch);
  void (*head_backward)(const HeadShape& shape, const HeadInput& input, const DropoutRule& rule, const float* weights,
                        const float* output_gradient, const HeadGradients& gradients, float* scratch);

  // RoPE: rotates each row of x, whose heads have d dimensions, by that row's rotation (cos, sin; …). `sign` −1 rotates
  // back.
  void (*rotate)(std::int64_t num_heads, std::int64_t d, const float* rotation, float sign, const float* x, float* y);

  // y (columns×rows, with y_stride) = xᵀ; the remainder of each row of y is 0.
  void (*transpose)(std::int64_t rows, std::int64_t columns, const float* x, std::int64_t stride, float* y,
                    std::int64_t y_stride);

  // Adds the column sums of x to `sums`.
  void (*add_column_sums)(std::int64_t rows, std::int64_t columns, const float* x, float* sums);

  // y = activation(x + bias) · mask; bias may be null; x and y may be the same array.
  void (*activate)(Activation activation, const DropoutRule& rule, std::int64_t rows, std::int64_t columns,
                   const float* x, const float* bias, float* y);
  // dx from dy; x: the input (GELU), y: the output (ReLU).
  void (*activate_backward)(Activation activation, const DropoutRule& rule, std::int64_t rows, std::int64_t columns,
                            const float* x, const float* y, const float* dy, float* dx);

  // sum = x + added · mask.
  void (*residual)(const DropoutRule& rule, std::int64_t rows, std::int64_t columns, const float* x, const float* added,
                   float* sum);
  // y = dy · mask: the gradient of `added`.
  void (*drop)(const DropoutRule& rule, std::int64_t rows, std::int64_t columns, const float* x, float* y);
  // Normalizes each row of x to mean 0 and variance 1, then applies gain and bias. mean and scale (1/√(variance + ε)):
  // one value per row
  void (*normalise)(std::int64_t rows, std::int64_t columns, float epsilon, const float* x, const float* gain,
                    const float* bias, float* mean, float* scale, float* y);
  // The gradients of gain and bias are accumulated.
  void (*normalise_backward)(std::int64_t rows, std::int64_t columns, const float* x, const float* gain,
                             const float* mean, const float* scale, const float* dy, float* dx, float* gain_gradient,
                             float* bias_gradient);

  // y = (table[id] · factor + position[l]) · mask for `rows` ids, l = row mod length; positions may be null.
  void (*embed)(const DropoutRule& rule, std::int64_t rows, std::int64_t length, std::int64_t columns,
                const std::int64_t* ids, const float* table, float factor, const float* positions, float* y);
  // Accumulates the gradients of the table (except at padding_id) and of the positions.
  void (*embed_backward)(const DropoutRule& rule, std::int64_t rows, std::int64_t length, std::int64_t columns,
                         const std::int64_t* ids, std::int64_t padding_id, float factor, const float* dy,
                         float* table_gradient, float* position_gradient, float* scratch);

  // Recurrent cells; see model/kernels/cells.h. `gates` stores their activations for the backward pass.
  void (*lstm)(std::int64_t rows, std::int64_t hidden, const float* from_input, const float* from_state, const float* c,
               float* gates, float* next_c, float* next_h);
  void (*lstm_backward)(std::int64_t rows, std::int64_t hidden, const float* gates, const float* c, const float* next_c,
                        const float* dh, const float* dc_above, float* dgates, float* dc);
  void (*gru)(std::int64_t rows, std::int64_t hidden, const float* from_input, const float* from_state, const float* h,
              float* gates, float* next_h);
  void (*gru_backward)(std::int64_t rows, std::int64_t hidden, const float* gates, const float* from_state,
                       const float* h, const float* dh_above, float* dfrom_input, float* dfrom_state, float* dh);

  // For one row of logits: the smoothed sum of −log p. With `gradient`, the logits are replaced by their gradient times
  // `weight`.
  float (*cross_entropy_row)(std::int64_t vocab_size, std::int64_t target, float smoothing, bool gradient, float weight,
                             float* logits);

  // Adds the gradients of all parts of the batch to the first, and returns the sum of the squares.
  double (*gather_gradients)(std::int64_t n, int parts, float* const* gradients);
  // One optimizer step for n parameters; with `decay`, parameters whose decayed[i] is 1 are first reduced by that
  // fraction. Sets the gradients to 0.
  void (*adam)(const AdamRule& rule, std::int64_t n, float decay, const float* decayed, float* parameters,
               float* gradients, float* exp_avg, float* exp_avg_sq);

  // Rounds each number to the nearest bfloat16, ties to even; outputs it as a float and as its upper 16 bits. Rows of x
  // are `stride` apart, rows of y are contiguous.
  void (*round_to_bfloat16)(std::int64_t rows, std::int64_t columns, std::int64_t stride, const float* x, float* y);
  void (*pack_bfloat16)(std::int64_t rows, std::int64_t columns, std::int64_t stride, const float* x, std::uint16_t* y);

  // y += factor · x
  void (*add_scaled)(std::int64_t n, float factor, const float* x, float* y);
};

}  // namespace attnscope
