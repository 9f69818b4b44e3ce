#include "model/kernels/linear.h"

#include "model/kernels/fused.h"
#include "model/kernels/product.h"

namespace attnscope::kernels {
namespace {

// Columns of y processed together: the row range of the weight.
struct Shape {
  std::int64_t rows, in, first, out;

  Shape(const torch::Tensor& x, const torch::Tensor& weight, std::int64_t first_row, std::int64_t last_row)
      : rows(num_rows(x)), in(weight.size(1)), first(first_row), out(last_row - first_row) {}
};

class Linear : public torch::autograd::Function<Linear> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& given, const torch::Tensor& weight,
                               const torch::Tensor& bias, std::int64_t first, std::int64_t last, std::int64_t kind,
                               double p) {
    const torch::Tensor x = given.contiguous();
    const Shape shape(x, weight, first, last);
    const auto activation = static_cast<Activation>(kind);
    const DropoutRule rule = next_dropout(p);
    std::vector<std::int64_t> sizes = x.sizes().vec();
    sizes.back() = shape.out;
    torch::Tensor y = torch::empty(sizes, x.options());
    const float* const added = is_there(bias) ? data(bias) + first : nullptr;
    multiply(shape.rows, shape.out, shape.in, {data(x), shape.in}, {data(weight) + first * shape.in, shape.in, true},
             data(y), false);
    torch::Tensor before;
    if (activation == Activation::gelu) {
      if (added) loops().activate(Activation::none, {}, shape.rows, shape.out, data(y), added, data(y));
      before = y;
      y = torch::empty_like(y);
      loops().activate(activation, rule, shape.rows, shape.out, data(before), nullptr, data(y));
    } else if (activation != Activation::none || rule.threshold > 0 || added) {
      loops().activate(activation, rule, shape.rows, shape.out, data(y), added, data(y));
    }
    context->save_for_backward({x, weight, bias, before, activation == Activation::relu ? y : torch::Tensor()});
    context->saved_data["rows"] = std::vector<std::int64_t>{first, last, kind};
    keep_rule(context, rule);
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &x = saved[0], &weight = saved[1], &bias = saved[2];
    const std::vector<std::int64_t> rows = context->saved_data["rows"].toIntVector();
    const Shape shape(x, weight, rows[0], rows[1]);
    const auto activation = static_cast<Activation>(rows[2]);
    const DropoutRule rule = kept_rule(context);
    torch::Tensor dy = gradients[0].contiguous();
    if (activation != Activation::none || rule.threshold > 0) {
      const torch::Tensor above = dy;
      dy = torch::empty_like(above);
      loops().activate_backward(activation, rule, shape.rows, shape.out, data(saved[3]), data(saved[4]), data(above),
                                data(dy));
    }
    const ParameterGradient weight_gradient(weight);
    const ParameterGradient bias_gradient(bias);
    const std::int64_t begin = shape.first * shape.in;
    if (float* sum = weight_gradient.data()) {
      multiply(shape.out, shape.in, shape.rows, {data(dy), shape.out, true}, {data(x), shape.in}, sum + begin, true);
    }
    if (float* sum = bias_gradient.data()) {
      loops().add_column_sums(shape.rows, shape.out, data(dy), sum + shape.first);
    }
    torch::Tensor dx;
    if (context->needs_input_grad(0)) {
      dx = torch::empty_like(x);
      multiply(shape.rows, shape.in, shape.out, {data(dy), shape.out}, {data(weight) + begin, shape.in}, data(dx),
               false);
    }
    return {dx, weight_gradient.returned(), bias_gradient.returned(), {}, {}, {}, {}};
  }
};

torch::Tensor composed(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias, RowRange rows,
                       Activation activation, double p) {
  const auto part = [&](const torch::Tensor& parameter) {
    return parameter.defined() ? parameter.slice(0, rows.first, rows.last) : parameter;
  };
  torch::Tensor y = torch::linear(x, part(weight), part(bias));
  if (activation == Activation::relu) y = torch::relu(y);
  if (activation == Activation::gelu) y = torch::gelu(y);
  return dropout(y, p);
}

}  // namespace

torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias, RowRange rows,
                     Activation activation, double p) {
  if (rows.last < 0) rows.last = weight.size(0);
  if (!is_fused(x)) return composed(x, weight, bias, rows, activation, p);
  return Linear::apply(x, weight, or_empty(bias), rows.first, rows.last, static_cast<std::int64_t>(activation), p);
}

}  // namespace attnscope::kernels
