#include "model/recompute.h"

#include <utility>

#include "model/kernels/dropout.h"
#include "model/kernels/fused.h"
#include "model/kernels/precision.h"

namespace attnscope {
namespace {

// Everything needed to run the layer again.
struct Rerun : torch::CustomClassHolder {
  std::function<torch::Tensor(const LayerInput&)> layer;
  kernels::DropoutPlace dropout;
  kernels::Precision precision = kernels::Precision::float32;
};

torch::Tensor or_undefined(const torch::Tensor& tensor) {
  return kernels::is_there(tensor) ? tensor : torch::Tensor();
}

// The same values as a leaf of a new graph.
torch::Tensor leaf(const torch::Tensor& tensor, bool needs_gradient) {
  return kernels::is_there(tensor) ? tensor.detach().requires_grad_(needs_gradient) : torch::Tensor();
}

torch::Tensor gradient_of(const torch::Tensor& tensor) {
  return tensor.defined() ? tensor.grad() : torch::Tensor();
}

class Recompute : public torch::autograd::Function<Recompute> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               const torch::Tensor& memory, const torch::Tensor& bias,
                               const c10::intrusive_ptr<Rerun>& rerun) {
    context->save_for_backward({x, memory, bias});
    context->saved_data["rerun"] = torch::IValue::make_capsule(rerun);
    return rerun->layer({x, or_undefined(memory), or_undefined(bias)});
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto capsule = context->saved_data["rerun"].toCapsule();
    const auto& rerun = static_cast<const Rerun&>(*capsule);
    const LayerInput input{leaf(saved[0], context->needs_input_grad(0)), leaf(saved[1], context->needs_input_grad(1)),
                           leaf(saved[2], context->needs_input_grad(2))};
    const torch::Device device = saved[0].device();
    torch::Tensor output;
    {
      const torch::AutoGradMode with_gradients(true);
      const kernels::DropoutAgain dropout(rerun.dropout, device);
      const kernels::PrecisionScope precision(rerun.precision, device);
      output = rerun.layer(input);
    }
    torch::autograd::backward({output}, {gradients[0]});  // accumulates the parameters' gradients
    return {gradient_of(input.x), gradient_of(input.memory), gradient_of(input.bias), {}};
  }
};

}  // namespace

torch::Tensor recomputed(const LayerInput& input, std::function<torch::Tensor(const LayerInput&)> layer) {
  auto rerun = c10::make_intrusive<Rerun>();
  rerun->layer = std::move(layer);
  rerun->dropout = kernels::dropout_place(input.x.device());
  rerun->precision = kernels::precision();
  return Recompute::apply(input.x, kernels::or_empty(input.memory), kernels::or_empty(input.bias), rerun);
}

}  // namespace attnscope
