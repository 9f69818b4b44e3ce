// The function table of this level.
#include <type_traits>

#include "model/kernels/simd/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {

template <typename Pointer>
using Function = std::remove_pointer_t<Pointer>;

// Defined in the other files of this folder.
Function<decltype(Loops::dropout_mask)> dropout_mask;
Function<decltype(Loops::head_scratch)> head_scratch;
Function<decltype(Loops::head_forward)> head_forward;
Function<decltype(Loops::head_backward)> head_backward;
Function<decltype(Loops::rotate)> rotate;
Function<decltype(Loops::transpose)> transpose;
Function<decltype(Loops::add_column_sums)> add_column_sums;
Function<decltype(Loops::activate)> activate;
Function<decltype(Loops::activate_backward)> activate_backward;
Function<decltype(Loops::residual)> residual;
Function<decltype(Loops::drop)> drop;
Function<decltype(Loops::normalise)> normalise;
Function<decltype(Loops::normalise_backward)> normalise_backward;
Function<decltype(Loops::embed)> embed;
Function<decltype(Loops::embed_backward)> embed_backward;
Function<decltype(Loops::lstm)> lstm;
Function<decltype(Loops::lstm_backward)> lstm_backward;
Function<decltype(Loops::gru)> gru;
Function<decltype(Loops::gru_backward)> gru_backward;
Function<decltype(Loops::cross_entropy_row)> cross_entropy_row;
Function<decltype(Loops::gather_gradients)> gather_gradients;
Function<decltype(Loops::adam)> adam;
Function<decltype(Loops::round_to_bfloat16)> round_to_bfloat16;
Function<decltype(Loops::pack_bfloat16)> pack_bfloat16;
Function<decltype(Loops::add_scaled)> add_scaled;

extern const Loops loops;

const Loops loops = {
    .dropout_mask = dropout_mask,
    .head_scratch = head_scratch,
    .head_forward = head_forward,
    .head_backward = head_backward,
    .rotate = rotate,
    .transpose = transpose,
    .add_column_sums = add_column_sums,
    .activate = activate,
    .activate_backward = activate_backward,
    .residual = residual,
    .drop = drop,
    .normalise = normalise,
    .normalise_backward = normalise_backward,
    .embed = embed,
    .embed_backward = embed_backward,
    .lstm = lstm,
    .lstm_backward = lstm_backward,
    .gru = gru,
    .gru_backward = gru_backward,
    .cross_entropy_row = cross_entropy_row,
    .gather_gradients = gather_gradients,
    .adam = adam,
    .round_to_bfloat16 = round_to_bfloat16,
    .pack_bfloat16 = pack_bfloat16,
    .add_scaled = add_scaled,
};

}  // namespace attnscope::ATTNSCOPE_LEVEL
