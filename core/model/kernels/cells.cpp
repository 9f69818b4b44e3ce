#include "model/kernels/cells.h"

#include "model/kernels/fused.h"

namespace attnscope::kernels {
namespace {

class Lstm : public torch::autograd::Function<Lstm> {
 public:
  static tensor_list forward(AutogradContext* context, const torch::Tensor& given_input,
                             const torch::Tensor& given_state, const torch::Tensor& given_c) {
    const torch::Tensor from_input = given_input.contiguous(), from_state = given_state.contiguous();
    const torch::Tensor c = given_c.contiguous();
    const torch::Tensor gates = torch::empty_like(from_input);
    torch::Tensor next_c = torch::empty_like(c), next_h = torch::empty_like(c);
    loops().lstm(c.size(0), c.size(1), data(from_input), data(from_state), data(c), data(gates), data(next_c),
                 data(next_h));
    context->save_for_backward({gates, c, next_c});
    return {next_h, next_c};
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &gates = saved[0], &c = saved[1];
    const torch::Tensor dh = gradients[0].contiguous(), dc_above = gradients[1].contiguous();
    torch::Tensor dgates = torch::empty_like(gates), dc = torch::empty_like(c);
    loops().lstm_backward(c.size(0), c.size(1), data(gates), data(c), data(saved[2]), data(dh), data(dc_above),
                          data(dgates), data(dc));
    return {dgates, dgates, dc};
  }
};

class Gru : public torch::autograd::Function<Gru> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& given_input,
                               const torch::Tensor& given_state, const torch::Tensor& given_h) {
    const torch::Tensor from_input = given_input.contiguous(), from_state = given_state.contiguous();
    const torch::Tensor h = given_h.contiguous();
    const torch::Tensor gates = torch::empty_like(from_input);
    torch::Tensor next_h = torch::empty_like(h);
    loops().gru(h.size(0), h.size(1), data(from_input), data(from_state), data(h), data(gates), data(next_h));
    context->save_for_backward({gates, from_state, h});
    return next_h;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &gates = saved[0], &h = saved[2];
    const torch::Tensor above = gradients[0].contiguous();
    torch::Tensor dfrom_input = torch::empty_like(gates), dfrom_state = torch::empty_like(gates);
    torch::Tensor dh = torch::empty_like(h);
    loops().gru_backward(h.size(0), h.size(1), data(gates), data(saved[1]), data(h), data(above), data(dfrom_input),
                         data(dfrom_state), data(dh));
    return {dfrom_input, dfrom_state, dh};
  }
};

LstmState composed_lstm(const torch::Tensor& from_input, const torch::Tensor& from_state, const torch::Tensor& c) {
  const auto gates = (from_input + from_state).chunk(4, 1);
  const torch::Tensor input_gate = torch::sigmoid(gates[0]);
  const torch::Tensor forget_gate = torch::sigmoid(gates[1]);
  const torch::Tensor candidate = torch::tanh(gates[2]);
  const torch::Tensor output_gate = torch::sigmoid(gates[3]);
  const torch::Tensor next = forget_gate * c + input_gate * candidate;
  return {output_gate * torch::tanh(next), next};
}

torch::Tensor composed_gru(const torch::Tensor& from_input, const torch::Tensor& from_state, const torch::Tensor& h) {
  const auto x = from_input.chunk(3, 1);
  const auto s = from_state.chunk(3, 1);
  const torch::Tensor reset_gate = torch::sigmoid(x[0] + s[0]);
  const torch::Tensor update_gate = torch::sigmoid(x[1] + s[1]);
  const torch::Tensor candidate = torch::tanh(x[2] + reset_gate * s[2]);
  return (1 - update_gate) * candidate + update_gate * h;
}

}  // namespace

LstmState lstm_step(const torch::Tensor& from_input, const torch::Tensor& from_state, const torch::Tensor& c) {
  if (!is_fused(from_input)) return composed_lstm(from_input, from_state, c);
  const tensor_list results = Lstm::apply(from_input, from_state, c);
  return {results[0], results[1]};
}

torch::Tensor gru_step(const torch::Tensor& from_input, const torch::Tensor& from_state, const torch::Tensor& h) {
  return is_fused(from_input) ? Gru::apply(from_input, from_state, h) : composed_gru(from_input, from_state, h);
}

}  // namespace attnscope::kernels
