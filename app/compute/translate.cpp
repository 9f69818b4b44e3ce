#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "commands/attention_json.h"
#include "commands/commands.h"
#include "commands/say.h"
#include "compute/input_lines.h"
#include "compute/opening.h"
#include "compute/unknown_tokens.h"
#include "data/tokenizer/tokenizer.h"
#include "engine/torch_engine.h"
#include "inspect/probe/bounded_tokens.h"
#include "inspect/probe/readings.h"
#include "inspect/probe/tensors.h"
#include "model/kernels/thread_pool.h"
#include "training/dataset.h"
#include "training/decoding/search.h"

namespace attnscope {
namespace {

// One run, and the lines to translate or, with a language model, to continue.
class Writer {
 public:
  Writer(TorchEngine& engine, const TranslateOptions& options) : engine_(engine), options_(options) {
    if (options.sample) sampler_.emplace(options.sampling);
  }

  struct Input {
    std::vector<int> ids;
    bool truncated = false;
    std::int64_t unknown = 0;
  };

  // A line as the model's input. Empty if there is nothing to translate, or if the line cannot be tokenized, which is
  // reported.
  std::optional<Input> read(const std::string& line, std::int64_t number) {
    if (!is_usable(line, number)) return std::nullopt;
    const bool prompt = is_language_model();
    if (!prompt && line.find_first_not_of(" \t") == std::string::npos) return std::nullopt;
    const Tokenizer& tokenizer = engine_.tokenizer();
    Input input;
    const std::vector<Token> read = prompt ? prompt_tokens(tokenizer, line, max_length(), input.truncated)
                                           : source_tokens(tokenizer, line, max_length(), input.truncated);
    for (const Token& token : read) input.ids.push_back(token.id);
    if (input.ids.empty()) input.ids = prompt_ids(tokenizer, line);
    input.unknown = unknown_.add(line, read);
    if (input.truncated) {
      const std::size_t added = prompt ? 0 : tokenizer.source_ids({}).size();  // special tokens around a source
      say("line {}: longer than the model's context of {} tokens: only its {} {} tokens are used", number, max_length(),
          prompt ? "last" : "first", read.size() - added);
    }
    return input;
  }

  void warn() const { unknown_.warn(); }

  struct Output {
    std::vector<Hypothesis> hypotheses;
    SearchTree tree;  // of the beam, only with --tree; samples have none
  };

  // The outputs for some lines, on all threads. JSON has every digit of the probabilities, and rounding
  // depends on the batch: there, every line is a batch of its own.
  std::vector<Output> write(const std::vector<std::vector<int>>& sources) {
    const SearchOptions search{
        .beam = options_.beam, .length_penalty = options_.length_penalty, .limit = options_.limit};
    std::vector<Output> outputs(sources.size());
    if (sampler_) {
      for (std::size_t i = 0; i < sources.size(); ++i) outputs[i].hypotheses = samples(sources[i], search);
    } else if (options_.json) {
      const auto write_one = [&](std::size_t i, bool) {
        std::vector<SearchTree> trees;
        std::vector<SearchTree>* const wanted = options_.tree ? &trees : nullptr;
        outputs[i].hypotheses =
            std::move(beam_search(engine_.model(), tensor(sources[i]), {}, search, {}, wanted).front());
        if (wanted) outputs[i].tree = std::move(trees.front());
      };
      kernels::run_by_turns(sources.size(), !engine_.model().device().is_cpu(), write_one, [](std::size_t) {});
    } else {
      auto found = search_all(engine_.model(), sources, search);
      for (std::size_t i = 0; i < sources.size(); ++i) outputs[i].hypotheses = std::move(found[i]);
    }
    return outputs;
  }

  std::string text(const std::vector<int>& source, const Hypothesis& hypothesis) const {
    return is_language_model() ? continued_text(engine_.tokenizer(), source, hypothesis.ids)
                               : engine_.tokenizer().decode(hypothesis.ids);
  }

  nlohmann::json json(const std::vector<int>& source, const Hypothesis& hypothesis) {
    nlohmann::json made = {{"text", text(source, hypothesis)},
                           {"score", hypothesis.score},
                           {"log_prob", hypothesis.log_prob},
                           {"finished", hypothesis.finished},
                           {"tokens", hypothesis_json(hypothesis)}};
    if (!options_.attention) return made;
    const HypothesisAttention attention = attention_of(engine_.model(), tensor(source), hypothesis);
    made["attention"] = {{"queries", tokens_json(tokens(attention.queries))},
                         {"keys", tokens_json(tokens(attention.keys))},
                         {"heads", maps_json(attention.maps)}};
    return made;
  }

  nlohmann::json json(const SearchTree& tree) const {
    nlohmann::json nodes = nlohmann::json::array();
    for (const Extension& node : tree) {
      nodes.push_back({{"parent", node.parent},
                       {"step", node.step},
                       {"id", node.token},
                       {"token", engine_.tokenizer().token(node.token)},
                       {"log_prob", node.log_prob},
                       {"total", node.total},
                       {"score", node.score},
                       {"fate", describe(node.state)}});
    }
    return nodes;
  }

  bool is_language_model() const { return engine_.config().model.is_language_model(); }
  std::int64_t max_length() const { return engine_.config().model.max_length; }

 private:
  std::vector<Hypothesis> samples(const std::vector<int>& source, const SearchOptions& search) {
    std::vector<Hypothesis> drawn;
    for (std::int64_t i = 0; i < options_.samples; ++i)
      drawn.push_back(sample(engine_.model(), tensor(source), *sampler_, search));
    return drawn;
  }

  torch::Tensor tensor(const std::vector<int>& ids) const { return ids_tensor(ids, engine_.model().device()); }  // 1×S

  std::vector<Token> tokens(const std::vector<int>& ids) const {
    std::vector<Token> made;
    for (const int id : ids) made.push_back(engine_.tokenizer().as_token(id));
    return made;
  }

  nlohmann::json hypothesis_json(const Hypothesis& hypothesis) const {
    std::vector<int> ids = hypothesis.ids;
    if (hypothesis.finished) ids.push_back(engine_.config().model.special().end);
    nlohmann::json listed = tokens_json(tokens(ids));
    for (std::size_t i = 0; i < ids.size(); ++i) listed[i]["log_prob"] = hypothesis.log_probs[i];
    return listed;
  }

  TorchEngine& engine_;
  const TranslateOptions& options_;
  UnknownTokens unknown_{engine_.tokenizer()};
  std::optional<Sampler> sampler_;  // shared by all lines, so that repeated lines give different samples
};

struct Line {
  std::string text;
  std::optional<Writer::Input> input;
};

void print_json(Writer& writer, const Line& line, const Writer::Output& output, bool with_tree) {
  nlohmann::json json = {{"source", line.text}, {"hypotheses", nlohmann::json::array()}};
  if (line.input) {
    json["truncated"] = line.input->truncated;
    json["unknown_tokens"] = line.input->unknown;
    for (const Hypothesis& hypothesis : output.hypotheses)
      json["hypotheses"].push_back(writer.json(line.input->ids, hypothesis));
    if (with_tree) json["tree"] = writer.json(output.tree);
  }
  fmt::print("{}\n", json_line(json));
}

void print_text(Writer& writer, std::int64_t number, const Line& line, const Writer::Output& output, bool limited) {
  if (!line.input) return fmt::print("\n");
  const Hypothesis& best = output.hypotheses.front();
  if (!best.finished && !limited && !writer.is_language_model())
    say("line {}: output truncated at {} tokens", number, best.ids.size());
  fmt::print("{}\n", writer.text(line.input->ids, best));
}

void write_lines(Writer& writer, std::span<const Line> lines, std::int64_t first, const TranslateOptions& options) {
  std::vector<std::vector<int>> sources;
  for (const Line& line : lines)
    if (line.input) sources.push_back(line.input->ids);
  const std::vector<Writer::Output> outputs = writer.write(sources);
  auto next = outputs.begin();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Writer::Output output = lines[i].input ? *next++ : Writer::Output();
    if (options.json)
      print_json(writer, lines[i], output, options.tree);
    else
      print_text(writer, first + static_cast<std::int64_t>(i), lines[i], output, options.limit > 0);
  }
  std::fflush(stdout);
}

}  // namespace

int translate(const TranslateOptions& options) {
  if (options.sample) check(options.sampling);  // before anything is loaded
  TorchEngine engine;
  open_model(engine, options.run, options.step);
  if (engine.config().model.is_masked_lm())
    throw std::runtime_error("this model predicts masked tokens and generates no text: use attnscope fill");
  if (options.average > 1) engine.average(options.average);
  Writer writer(engine, options);
  constexpr std::size_t most_lines = 1024;
  std::vector<Line> lines;
  std::int64_t number = 1;
  for (std::string text; next_line(text, number); ++number) {
    lines.push_back({text, writer.read(text, number)});
    if (lines.size() < most_lines && has_next_line()) continue;  // someone who types is answered at once
    write_lines(writer, lines, number + 1 - std::ssize(lines), options);
    lines.clear();
  }
  write_lines(writer, lines, number - std::ssize(lines), options);
  writer.warn();
  return 0;
}

}  // namespace attnscope
