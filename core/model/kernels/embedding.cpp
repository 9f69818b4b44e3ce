#include "model/kernels/embedding.h"

#include "model/kernels/fused.h"

namespace attnscope::kernels {
namespace {

void check_ids(const torch::Tensor& ids, std::int64_t vocab_size) {
  const auto* id = ids.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < ids.numel(); ++i) {
    TORCH_CHECK_INDEX(id[i] >= 0 && id[i] < vocab_size, "token id ", id[i], " of a vocabulary of ", vocab_size);
  }
}

class Embedding : public torch::autograd::Function<Embedding> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& given, const torch::Tensor& table,
                               const torch::Tensor& given_positions, double factor, std::int64_t padding_id, double p) {
    const torch::Tensor ids = given.contiguous();
    const torch::Tensor positions = given_positions.contiguous();
    check_ids(ids, table.size(0));
    const DropoutRule rule = next_dropout(p);
    std::vector<std::int64_t> sizes = ids.sizes().vec();
    sizes.push_back(table.size(1));
    torch::Tensor y = torch::empty(sizes, table.options());
    loops().embed(rule, ids.numel(), ids.size(-1), table.size(1), ids.data_ptr<std::int64_t>(), data(table),
                  static_cast<float>(factor), data(positions), data(y));
    context->save_for_backward({ids, table, positions});
    context->saved_data["factor"] = factor;
    context->saved_data["padding_id"] = padding_id;
    keep_rule(context, rule);
    return y;
  }

  static tensor_list backward(AutogradContext* context, tensor_list gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &ids = saved[0], &table = saved[1], &positions = saved[2];
    const torch::Tensor above = gradients[0].contiguous();
    const DropoutRule rule = kept_rule(context);
    const ParameterGradient table_gradient(table);
    torch::Tensor position_gradient;
    if (is_there(positions) && context->needs_input_grad(2)) position_gradient = torch::zeros_like(positions);
    const torch::Tensor scratch = rule.threshold > 0 ? torch::empty_like(above) : torch::Tensor();
    loops().embed_backward(rule, ids.numel(), ids.size(-1), table.size(1), ids.data_ptr<std::int64_t>(),
                           context->saved_data["padding_id"].toInt(),
                           static_cast<float>(context->saved_data["factor"].toDouble()), data(above),
                           table_gradient.data(), data(position_gradient), data(scratch));
    return {{}, table_gradient.returned(), position_gradient, {}, {}, {}};
  }
};

}  // namespace

torch::Tensor embed(const torch::Tensor& ids, const torch::Tensor& table, double factor, const torch::Tensor& positions,
                    std::int64_t padding_id, double p) {
  if (is_fused(table)) return Embedding::apply(ids, table, or_empty(positions), factor, padding_id, p);
  torch::Tensor y = torch::embedding(table, ids, padding_id) * factor;
  if (positions.defined()) y = y + positions;
  return dropout(y, p);
}

}  // namespace attnscope::kernels
