#include "shell/training.h"

#include <fmt/format.h>

#include <utility>

#include "base/numbers.h"
#include "base/translation.h"
#include "files/captures/capture.h"
#include "shell/captures.h"
#include "shell/saved_view.h"
#include "workspaces/attention/view.h"
#include "workspaces/circuit/view.h"
#include "workspaces/decoding/view.h"
#include "workspaces/embeddings/view.h"
#include "workspaces/flow/view.h"
#include "workspaces/mechanisms/view.h"
#include "workspaces/origins/view.h"
#include "workspaces/positions/view.h"

namespace attnscope {
namespace {

// ---- studies

double percent(std::int64_t part, std::int64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string text_of(const Evaluation& scores) {
  if (scores.pairs == 0) return tr("No held-out pair fits into the model.");
  if (!scores.confusion.labels.empty()) {
    return trf("{} held-out texts: {:.1f} % correct, {:.1f} % on average over the classes, {:.3f} nats per label",
               grouped(scores.pairs), 100 * scores.confusion.accuracy(), 100 * scores.confusion.balanced_accuracy(),
               scores.nll.per_token());
  }
  std::string text =
      trf("{} held-out pairs: BLEU {:.1f}, {:.1f} % exact matches, {:.3f} nats/token", grouped(scores.pairs),
          scores.bleu, percent(scores.exact, scores.pairs), scores.nll.per_token());
  if (scores.pronoun_pairs > 0) {
    text += trf("; il/elle correct in {:.1f} % of {}", percent(scores.pronoun_right, scores.pronoun_pairs),
                grouped(scores.pronoun_pairs));
  }
  return text;
}

std::string text_of(const TextEvaluation& scores) {
  return trf("{} held-out characters: {:.3f} nats/token, {:.3f} bits/character", grouped(scores.characters),
             scores.nll.per_token(), scores.bits_per_character());
}

std::string text_of(const TsneMap& map) {
  return trf("t-SNE of {} tokens, perplexity {:g}: KL {:.2f} \u2192 {:.2f} nats",
             grouped(static_cast<std::int64_t>(map.ids.size())), map.perplexity, static_cast<double>(map.first_kl),
             static_cast<double>(map.kl));
}

// No message for results that are shown where they were requested.
std::string text_of(const auto&) {
  return {};
}

// Passes the result to the view that shows it.
struct HandOver {
  Views& views;
  const StudyResult& result;

  void operator()(const auto& about_circuit) const {
    take_circuit(views.of<CircuitView>(), about_circuit, result.run, result.step);
  }
  void operator()(const HeadsResult& inspection) const {
    take_circuit(views.of<CircuitView>(), inspection, result.run, result.step);
    views.of<AttentionView>().importance = inspection.heads;
    views.of<AttentionView>().importance_of = result.run;
  }
  void operator()(const InductionResult& inspection) const {
    take_mechanism(views.of<MechanismsView>(), inspection, result.run, result.step);
  }
  void operator()(const NearestResult& inspection) const {
    take_contexts(views.of<FlowView>().contexts, inspection, result.run, result.step);
  }
  void operator()(const ProbingResult& inspection) const {
    take_probes(views.of<FlowView>().probes, inspection, result.run, result.step);
  }
  void operator()(const TunedLensResult& inspection) const {
    LensChoice& lens = views.of<DecodingView>().lens;
    lens.step = result.step;
    lens.fitted = inspection;
  }
  void operator()(const NeuronsResult& inspection) const {
    take_neurons(views.of<FlowView>().neurons, inspection, result.run, result.step);
  }
  void operator()(const FourierResult& inspection) const {
    take_mechanism(views.of<MechanismsView>(), inspection, result.run, result.step);
  }
  void operator()(const TsneMap& map) const { take_tsne(views.of<EmbeddingsView>(), map, result.run); }
  void operator()(const AttributionResult& inspection) const {
    take_attribution(views.of<CircuitView>().attribution, inspection, result.run, result.step);
  }
  void operator()(const GradientResult& inspection) const {
    take_gradients(views.of<OriginsView>().gradients, inspection, result.run, result.step);
  }
  void operator()(const TensorsResult& inspection) const {
    take_tensors(views.of<FlowView>().spread, inspection, result.run, result.step);
  }
  void operator()(const CostResult& inspection) const {
    take_cost(views.of<OriginsView>().cost, inspection, result.run);
  }
  void operator()(const LengthResult& inspection) const {
    take_lengths(views.of<OriginsView>().lengths, inspection, result.run, result.step);
  }
  void operator()(const OrderResult& inspection) const {
    take_orders(views.of<PositionsView>().orders, inspection, result.run, result.step);
  }
  void operator()(const Evaluation& scores) const {
    if (!scores.confusion.labels.empty())
      take_confusion(views.of<OriginsView>().classes, scores.confusion, result.run, result.step);
  }
  void operator()(const TextEvaluation&) const {}
};

}  // namespace

bool can_train(const AppState& scope) {
  if (!has_run(scope) || !may_control(scope) || shows_capture(scope)) return false;
  const Activity activity = scope.a.status.activity;
  return activity == Activity::idle || activity == Activity::paused || activity == Activity::finished;
}

bool waits_for_corpus(const AppState& scope) {
  return scope.a.run.config.corpus.source.empty() && !scope.edited.corpus.source.empty() && can_reset(scope);
}

std::string config_complaint(const Config& config) {
  try {
    check(config);
    return {};
  } catch (const ConfigError& error) {
    return error.what();
  }
}

bool can_reset(const AppState& scope) {
  return may_replace(scope) && !shows_capture(scope) && scope.a.status.activity != Activity::preparing &&
         config_complaint(scope.edited).empty();
}

void play_or_pause(AppState& scope) {
  if (scope.a.status.activity == Activity::training && may_control(scope)) {
    scope.commands.push_back(Pause{});
    scope.pausing = true;
  } else if (can_train(scope)) {
    // A model that came without a corpus continues from its weights on the selected corpus.
    if (waits_for_corpus(scope)) reset(scope);
    scope.commands.push_back(Train{});
  }
}

void step_once(AppState& scope) {
  if (can_train(scope)) scope.commands.push_back(Step{});
}

void reset(AppState& scope) {
  if (can_reset(scope)) scope.commands.push_back(Reset{scope.edited});
}

void adjust(AppState& scope) {
  const std::string complaint = config_complaint(scope.edited);
  if (!complaint.empty()) return;
  scope.a.run.config = with_live_fields(scope.a.run.config, scope.edited);
  // A dragged slider posts many changes; only the last one matters.
  std::erase_if(scope.commands, [](const Command& command) { return std::holds_alternative<Adjust>(command); });
  scope.commands.push_back(Adjust{scope.a.run.config});
}

void drop_path(AppState& scope, const std::string& path, bool is_folder) {
  if (!may_replace(scope)) {
    notify(scope, Severity::info, tr(only_where_it_trains));
  } else if (is_folder || is_capture_name(path)) {
    scope.commands.push_back(OpenRun{path});
  } else if (path.ends_with(saved_view_extension)) {
    scope.commands.emplace_back(ReadFile{path, most_view_bytes});
  } else {
    scope.dropped_file = path;
  }
}

// ---- studies

void start_study(AppState& scope, StudyQuestion question) {
  if (!has_run(scope)) return;
  scope.study = StudyUnderWay{++scope.studies, 0, study_text(question, scope.a.run.config.model)};
  scope.commands.push_back(StartStudy{scope.studies, std::move(question), inspected_step(scope), shown_side(scope)});
}

void cancel_study(AppState& scope) {
  if (scope.study) scope.commands.push_back(CancelStudy{});
}

std::string study_text(const StudyQuestion& question, const ModelConfig& model) {
  if (std::holds_alternative<TsneStudy>(question)) return tr("Computing t-SNE of the tokens");
  if (std::holds_alternative<CircuitStudy>(question)) return tr("Searching for the circuit");
  if (std::holds_alternative<CorpusCircuitStudy>(question)) return tr("Measuring the circuit over the corpus");
  if (std::holds_alternative<TrialStudy>(question)) return tr("Testing the change");
  if (std::holds_alternative<FormationStudy>(question)) return tr("Evaluating the recorded steps");
  if (std::holds_alternative<SweepQuestion>(question)) return tr("Patching one head after another");
  if (std::holds_alternative<ScoreQuestion>(question)) return tr("Decomposing the attention score");
  if (std::holds_alternative<HeadsQuestion>(question)) return tr("Ablating heads");
  if (std::holds_alternative<HeadsHistoryQuestion>(question)) return tr("Ablating heads at the recorded steps");
  if (std::holds_alternative<InductionQuestion>(question)) return tr("Measuring induction heads");
  if (std::holds_alternative<NearestQuestion>(question)) return tr("Comparing contexts");
  if (const auto* neurons = std::get_if<NeuronsQuestion>(&question))
    return neurons->dictionary ? tr("Training the sparse autoencoder") : tr("Measuring neurons");
  if (std::holds_alternative<ProbingQuestion>(question)) return tr("Fitting the probes");
  if (std::holds_alternative<TunedLensQuestion>(question)) return tr("Fitting the tuned lens");
  if (std::holds_alternative<FourierQuestion>(question)) return tr("Transforming the embeddings");
  if (std::holds_alternative<AttributionQuestion>(question)) return tr("Decomposing the output");
  if (std::holds_alternative<GradientQuestion>(question)) return tr("Computing the gradients");
  if (std::holds_alternative<CostQuestion>(question)) return tr("Measuring layers by sequence length");
  if (std::holds_alternative<LengthQuestion>(question)) return tr("Evaluating sentences by length");
  if (std::holds_alternative<TensorsQuestion>(question)) return tr("Reading every tensor");
  if (std::holds_alternative<OrderQuestion>(question)) return tr("Running the model on shuffled words");
  if (model.is_classifier()) return tr("Classifying the held-out texts");
  return model.reads_text() ? tr("Evaluating the held-out text") : tr("Translating the held-out pairs");
}

std::string result_text(const StudyResult& result) {
  const std::string text = std::visit([](const auto& answer) { return text_of(answer); }, result.answer);
  return text.empty() ? text : trf("Step {}. {}", grouped(result.step), text);
}

void receive(AppState& scope, const StudyProgress& progress) {
  if (scope.study && scope.study->number == progress.study) scope.study->fraction = progress.fraction;
}

void receive(AppState& scope, const StudyEnded& ended) {
  if (scope.study && scope.study->number == ended.study) scope.study.reset();
  if (!ended.result) return;
  std::visit(HandOver{scope.views, *ended.result}, ended.result->answer);
  if (std::string text = result_text(*ended.result); !text.empty())
    notify(scope, Severity::info, std::move(text)).stays = true;
}

}  // namespace attnscope
