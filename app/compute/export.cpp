// The export command: converts a run to other programs' formats.
#include "engine/export/export.h"

#include "commands/commands.h"
#include "compute/opening.h"
#include "commands/progress.h"
#include "commands/say.h"
#include "compute/tensorboard.h"

namespace attnscope {

int export_run(const ExportOptions& options) {
  ProgressLine line;
  TorchEngine engine;
  if (options.format == "tensorboard") {
    open_run(engine, options.run, line, options.step);
    export_tensorboard(engine, options.source, options.folder, line);
  } else {
    open_model(engine, options.run, options.step);
    if (options.average > 1) engine.average(options.average);
    const Exported run{engine.config(), engine.model(), engine.tokenizer()};
    const auto write = options.format == "hf"     ? export_checkpoint
                       : options.format == "onnx" ? export_onnx
                                                  : export_torchscript;
    write(run, options.folder);
  }
  line.clear();
  tell("Exported to {}", options.folder);
  return 0;
}

}  // namespace attnscope
