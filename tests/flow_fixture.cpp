#include "flow_fixture.h"

#include <cmath>
#include <memory>
#include <utility>

#include "config/architecture.h"

namespace attnscope {
namespace {

constexpr int width = 8;

Matrix numbers(int rows, int cols, int seed) {
  Matrix matrix(rows, cols);
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = static_cast<float>(std::sin(static_cast<double>(i) * 1.7 + seed));
  return matrix;
}

BatchSide side(int cols, std::initializer_list<std::initializer_list<int>> rows) {
  BatchSide made;
  made.rows = static_cast<int>(rows.size());
  made.cols = cols;
  for (const auto& row : rows) {
    std::vector<int> ids(row);
    ids.resize(static_cast<std::size_t>(cols));
    for (const int id : ids) {
      made.ids.push_back(id);
      made.tokens.push_back(id == 0 ? "" : id == 1 ? "<s>" : id == 2 ? "</s>" : "p" + std::to_string(id));
    }
  }
  return made;
}

}  // namespace

void add_data_flow(Snapshot& snapshot, const FlowWanted& wanted) {
  auto flow = std::make_shared<DataFlow>();
  flow->asked = wanted;
  flow->vocab_size = 100;
  flow->parameters = {{"embedding.weight", {100, width}}, {"encoder.layers.0.linear1.weight", {4, width}}};
  const std::vector<std::string> rows = texts_of(wanted.box.decoder ? snapshot.target_in : snapshot.source);
  const auto count = static_cast<int>(rows.size());
  const std::string length = wanted.box.decoder ? "T" : "S";
  const Matrix x = numbers(count, width, 1), w = numbers(width, 2, 2);
  Matrix product(count, 2), share(count, 2);
  for (int row = 0; row < count; ++row) {
    for (int col = 0; col < 2; ++col)
      for (int i = 0; i < width; ++i) product.at(row, col) += x.at(row, i) * w.at(i, col);
    const float sum = std::exp(product.at(row, 0)) + std::exp(product.at(row, 1));
    for (int col = 0; col < 2; ++col) share.at(row, col) = std::exp(product.at(row, col)) / sum;
  }
  flow->matrices = {
      {.name = "x", .help = "What comes in.", .letters = length + "×D", .values = x, .row_labels = rows},
      {.name = "W", .help = "Learned.", .letters = "D×2", .values = w, .op = FlowOp::learned},
      {.name = "x·W",
       .help = "A product.",
       .letters = length + "×2",
       .values = product,
       .op = FlowOp::product,
       .operands = {0, 1},
       .row_labels = rows,
       .section = "A second section"},
      {.name = "shares",
       .help = "Its softmax.",
       .letters = length + "×2",
       .values = share,
       .op = FlowOp::softmax,
       .operands = {2},
       .row_labels = rows},
  };
  snapshot.data_flow = std::move(flow);
}

BatchInspection fixture_batch() {
  BatchInspection batch;
  batch.step = 13;
  batch.batch = 12;
  batch.parts = 2;
  batch.source = side(4, {{4, 5, 6, 2}, {4, 5, 2}, {7, 2}});
  batch.target_in = side(3, {{1, 8, 9}, {1, 8}, {1}});
  batch.target_out = side(3, {{8, 9, 2}, {8, 2}, {2}});
  batch.padding_made = 0.375;
  batch.padding_sorted = 0.125;
  batch.label_smoothing = 0.1;
  batch.num_outputs = 10;
  batch.dropout = 0.5;
  batch.dropout_places = {{"source embedding", false},
                          {"decoder layer 1: cross-attention weights", true, DropoutPlace::Columns::source}};
  batch.kept = Matrix(4, width);
  for (std::size_t i = 0; i < batch.kept.values.size(); i += 2) batch.kept.values[i] = 2;
  return batch;
}

}  // namespace attnscope
