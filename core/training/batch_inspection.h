// Inspection of the next batch.
#pragma once

#include <cstdint>
#include <memory>

#include "data/tokenizer/tokenizer.h"
#include "messages/batch_inspection.h"
#include "training/batch_source.h"

namespace attnscope {

class BatchInspector {
 public:
  // For a run that trains on `dataset`; scans the lengths of all its pairs once.
  BatchInspector(const Config& config, std::shared_ptr<const Dataset> dataset);

  // The first batch of the step after `step`, in `num_parts` parts. `config`: with the current live fields.
  BatchInspection inspect(const BatchWanted& wanted, const Config& config, const Tokenizer& tokenizer,
                             std::int64_t step, std::int64_t num_parts);

 private:
  BatchSource batches_;
  double padding_made_ = 0;
  double padding_sorted_ = 0;
};

}  // namespace attnscope
