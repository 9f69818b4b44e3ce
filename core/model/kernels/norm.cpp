#include "model/kernels/norm.h"

#include "model/kernels/fused.h"

namespace attnscope::kernels {
namespace {

class AddDropped : public torch::autograd::Function<AddDropped> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& given, const torch::Tensor& given_added,
                               double p) {
    const torch::Tensor x = given.contiguous(), added = given_added.contiguous();
    const DropoutRule rule = next_dropout(p);
    torch::Tensor sum = torch::empty_like(x);
    loops().residual(rule, num_rows(x), x.size(-1), data(x), data(added), data(sum));
    keep_rule(context, rule);
    return sum;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const DropoutRule rule = kept_rule(context);
    if (rule.threshold == 0) return {gradients[0], gradients[0], {}};
    const torch::Tensor above = gradients[0].contiguous();
    torch::Tensor added = torch::empty_like(above);
    loops().drop(rule, num_rows(above), above.size(-1), data(above), data(added));
    return {above, added, {}};
  }
};

// LayerNorm, optionally of a residual sum.
class Norm : public torch::autograd::Function<Norm> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& given, const torch::Tensor& given_added,
                               const torch::Tensor& gain, const torch::Tensor& bias, double epsilon, double p) {
    torch::Tensor x = given.contiguous();
    const std::int64_t rows = num_rows(x), columns = x.size(-1);
    const DropoutRule rule = next_dropout(p);
    if (is_there(given_added)) {
      const torch::Tensor added = given_added.contiguous();
      torch::Tensor sum = torch::empty_like(x);
      loops().residual(rule, rows, columns, data(x), data(added), data(sum));
      x = sum;
    }
    const torch::Tensor mean = torch::empty({rows}, x.options()), scale = torch::empty({rows}, x.options());
    torch::Tensor y = torch::empty_like(x);
    loops().normalise(rows, columns, static_cast<float>(epsilon), data(x), data(gain), data(bias), data(mean),
                      data(scale), data(y));
    context->save_for_backward({x, gain, bias, mean, scale});
    context->saved_data["added"] = is_there(given_added);
    keep_rule(context, rule);
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &x = saved[0], &gain = saved[1];
    const std::int64_t rows = num_rows(x), columns = x.size(-1);
    const torch::Tensor above = gradients[0].contiguous();
    const ParameterGradient gain_gradient(gain), bias_gradient(saved[2]);
    torch::Tensor unused;  // receives the gradients of a frozen norm
    if (!gain_gradient.data() || !bias_gradient.data()) unused = torch::zeros({columns}, x.options());
    const auto place = [&](const ParameterGradient& gradient) {
      return gradient.data() ? gradient.data() : data(unused);
    };
    torch::Tensor dx = torch::empty_like(x);
    loops().normalise_backward(rows, columns, data(x), data(gain), data(saved[3]), data(saved[4]), data(above),
                               data(dx), place(gain_gradient), place(bias_gradient));
    torch::Tensor added;
    if (context->saved_data["added"].toBool()) {
      const DropoutRule rule = kept_rule(context);
      added = rule.threshold > 0 ? torch::empty_like(dx) : dx;
      if (rule.threshold > 0) loops().drop(rule, rows, columns, data(dx), data(added));
    }
    return {dx, added, gain_gradient.returned(), bias_gradient.returned(), {}, {}};
  }
};

torch::Tensor composed_norm(const torch::Tensor& x, const NormParameters& norm) {
  return torch::layer_norm(x, norm.gain.sizes(), norm.gain, norm.bias, norm.epsilon);
}

}  // namespace

torch::Tensor add_dropped(const torch::Tensor& x, const torch::Tensor& added, double p) {
  return is_fused(x) ? AddDropped::apply(x, added, p) : x + dropout(added, p);
}

torch::Tensor layer_norm(const torch::Tensor& x, const NormParameters& norm) {
  if (!is_fused(x)) return composed_norm(x, norm);
  return Norm::apply(x, or_empty({}), norm.gain, norm.bias, norm.epsilon, 0.0);
}

torch::Tensor add_and_norm(const torch::Tensor& x, const torch::Tensor& added, const NormParameters& norm, double p) {
  if (!is_fused(x)) return composed_norm(x + dropout(added, p), norm);
  return Norm::apply(x, added, norm.gain, norm.bias, norm.epsilon, p);
}

torch::Tensor rms_norm(const torch::Tensor& x, const torch::Tensor& gain, double epsilon) {
  return x * torch::rsqrt(x.square().mean(-1, true) + epsilon) * gain;
}

}  // namespace attnscope::kernels
