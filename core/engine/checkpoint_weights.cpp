#include "engine/checkpoint_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "common/mark.h"
#include "config/position_schemes.h"
#include "engine/checkpoint.h"

namespace attnscope {
namespace {

const TensorView* first_stored(const CheckpointTensors& stored, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (const TensorView* found = stored.find(name)) return found;
  return nullptr;
}

// The destination of a tensor: a range of the parameter's rows.
class Destination {
 public:
  Destination(torch::Tensor parameter, const ModelConfig& model, const CheckpointTensors& all)
      : parameter_(std::move(parameter)), model_(model), all_(all) {}

  void take(const TensorView& stored, const TensorPart& part) {
    const std::int64_t rows = part.rows > 0 ? part.rows : parameter_.size(0);
    const torch::Tensor place = parameter_.slice(0, filled_, filled_ + rows);
    filled_ += rows;
    std::vector<std::int64_t> wanted = place.sizes().vec();
    if (part.change == TensorChange::transposed && wanted.size() == 2) std::swap(wanted[0], wanted[1]);
    std::vector<std::int64_t> shape = stored.shape;
    torch::Tensor factor;
    if (!part.times.empty()) {
      const TensorView* const other = first_stored(all_, part.times);
      if (!other) throw CheckpointError(fmt::format("tensor {} is missing", fmt::join(part.times, " or ")));
      factor = values_of(*other, other->shape);
      if (factor.dim() == 2 && factor.size(0) == wanted.back()) factor = factor.t();
      if (factor.dim() != 2 || factor.size(1) != wanted.back())
        throw CheckpointError(fmt::format("tensor {} has shape [{}], the configuration asks for {} rows or columns",
                                          other->name, fmt::join(other->shape, ", "), wanted.back()));
      wanted.back() = factor.size(0);
    }
    if (shape.size() == wanted.size() + 1 && shape.front() == 1) shape.erase(shape.begin());  // [1, V]
    wanted.front() += part.skipped;
    if (shape != wanted) {
      throw CheckpointError(fmt::format("tensor {} has shape [{}], the configuration asks for [{}]", stored.name,
                                        fmt::join(stored.shape, ", "), fmt::join(wanted, ", ")));
    }
    torch::Tensor values = values_of(stored, shape).slice(0, part.skipped);
    if (factor.defined()) values = torch::mm(values.to(torch::kFloat32), factor.to(torch::kFloat32));
    place.copy_(changed(values, part.change));
    if (part.added != 0) place.add_(part.added);
    if (!is_finite(place))
      throw CheckpointError(fmt::format("tensor {} contains a value that is not finite", stored.name));
  }

 private:
  static torch::Tensor values_of(const TensorView& stored, const std::vector<std::int64_t>& shape) {
    // from_blob has no const form; the data is only read.
    return torch::from_blob(const_cast<char*>(stored.bytes.data()), shape, stored_type(stored));
  }

  static torch::ScalarType stored_type(const TensorView& stored) {
    if (const auto type = floating_type(stored.dtype)) return *type;
    throw CheckpointError(fmt::format("tensor {} contains {}, not floating-point numbers of a supported type",
                                      stored.name, name_of(stored.dtype)));
  }

  torch::Tensor changed(const torch::Tensor& tensor, TensorChange change) const {
    switch (change) {
      case TensorChange::none:
      case TensorChange::flattened:
        return tensor;
      case TensorChange::transposed:
        return tensor.t();
      case TensorChange::interleaved:
        return interleaved(tensor);
      case TensorChange::by_head: {
        const torch::Tensor parts = tensor.unflatten(0, {model_.num_heads, 3, -1}).transpose(0, 1);  // 3×H×d×…
        const bool turns = position_scheme(model_.positions).form == PositionForm::rotation;
        const torch::Tensor turned = parts.slice(0, 0, 2).flatten(0, 2);
        return torch::cat({turns ? interleaved(turned) : turned, parts[2].flatten(0, 1)});
      }
    }
    return tensor;
  }

  // Only the rotated rows of each head; the others stay.
  torch::Tensor interleaved(const torch::Tensor& tensor) const {
    const std::int64_t width = model_.rotary_width > 0 ? model_.rotary_width : model_.head_width();
    const torch::Tensor heads = tensor.unflatten(0, {-1, model_.head_width()});
    const torch::Tensor turned = heads.slice(1, 0, width).unflatten(1, {2, width / 2}).transpose(1, 2).flatten(1, 2);
    return torch::cat({turned, heads.slice(1, width)}, 1).flatten(0, 1);
  }

  torch::Tensor parameter_;
  const ModelConfig& model_;
  const CheckpointTensors& all_;
  std::int64_t filled_ = 0;
};

}  // namespace

void load_checkpoint(const CheckpointTensors& stored, std::span<const TensorRow> rows, SequenceModel& model) {
  torch::NoGradGuard no_grad;
  std::map<std::string, torch::Tensor> places;
  for (const auto& item : model.named_parameters()) places.emplace(item.key(), item.value());
  const std::size_t parameters = places.size();
  std::size_t planned = 0;
  for (const TensorRow& row : rows) planned += places.contains(row.parameter) ? 1 : 0;
  if (planned != parameters) throw std::logic_error("the checkpoint plan leaves out parameters");
  for (const auto& item : model.named_buffers()) places.emplace(item.key(), item.value());
  for (const TensorRow& row : rows) {
    const auto place = places.find(row.parameter);
    if (place == places.end()) throw std::logic_error("there is no parameter named " + row.parameter);
    Destination destination(place->second.detach(), model.config(), stored);
    for (const TensorPart& part : row.parts) {
      const TensorView* const found = first_stored(stored, part.names);
      if (found) {
        destination.take(*found, part);
        CheckpointTensors::release(*found);
      } else if (row.optional) {
        // Parameters are uninitialized here; buffers keep what the model computed.
        if (row.parameter.ends_with("bias")) place->second.detach().zero_();
      } else {
        throw CheckpointError(fmt::format("tensor {} is missing", fmt::join(part.names, " or ")));
      }
    }
  }
}

torch::Tensor checkpoint_matrix(const CheckpointTensors& stored, std::span<const TensorRow> rows,
                                const std::string& parameter, const SequenceModel& model) {
  const auto row = std::ranges::find(rows, parameter, &TensorRow::parameter);
  if (row == rows.end()) throw std::logic_error("there is no parameter named " + parameter);
  const torch::Tensor matrix = torch::empty(model.named_parameters()[parameter].sizes());
  Destination destination(matrix, model.config(), stored);
  for (const TensorPart& part : row->parts) {
    const TensorView* const found = first_stored(stored, part.names);
    if (!found) throw CheckpointError(fmt::format("tensor {} is missing", fmt::join(part.names, " or ")));
    destination.take(*found, part);
  }
  return matrix;
}

std::string unused_output(const CheckpointTensors& stored, std::span<const TensorRow> rows, const ModelConfig& model) {
  const auto row = std::ranges::find(rows, "embedding.weight", &TensorRow::parameter);
  if (!model.has_tied_output() || row == rows.end()) return {};
  const TensorView* const embedding = first_stored(stored, row->parts.front().names);
  for (const char* name : {"lm_head.weight", "embed_out.weight"}) {
    const TensorView* const output = stored.find(name);
    if (!output || !embedding || output->bytes == embedding->bytes) continue;
    return fmt::format(mark("tensor {} differs from the embeddings, but tie_word_embeddings is true: it is not used"),
                       name);
  }
  return {};
}

namespace {

// A part of `parameter`, in the stored layout.
torch::Tensor unchanged(const torch::Tensor& part, TensorChange change, std::int64_t head_width) {
  switch (change) {
    case TensorChange::none:
      return part;
    case TensorChange::transposed:
      return part.t();
    case TensorChange::flattened:
      return part.unsqueeze(0);
    case TensorChange::by_head:
      throw std::logic_error("no exported family has heads with their queries, keys and values together");
    case TensorChange::interleaved:
      return part.unflatten(0, {-1, head_width / 2, 2}).transpose(1, 2).reshape(part.sizes());
  }
  return part;
}

}  // namespace

Safetensors checkpoint_tensors(std::span<const TensorRow> rows, const SequenceModel& model) {
  const auto parameters = model.named_parameters();
  Safetensors file{{{"format", "pt"}}, {}};
  for (const TensorRow& row : rows) {
    const torch::Tensor* const parameter = parameters.find(row.parameter);
    if (!parameter && row.optional) continue;
    if (!parameter) throw std::logic_error("there is no parameter named " + row.parameter);
    std::int64_t begin = 0;
    for (const TensorPart& part : row.parts) {
      const std::int64_t end = begin + (part.rows > 0 ? part.rows : parameter->size(0));
      const torch::Tensor stored = unchanged(parameter->detach().to(torch::kCPU, torch::kFloat32).slice(0, begin, end),
                                             part.change, model.config().head_width())
                                       .contiguous();
      file.tensors.push_back(
          {part.names.front(),
           Dtype::F32,
           stored.sizes().vec(),
           {static_cast<const char*>(stored.data_ptr()), static_cast<std::size_t>(stored.nbytes())}});
      begin = end;
    }
  }
  return file;
}

}  // namespace attnscope
