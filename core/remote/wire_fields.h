// The fields of every message in transmission order, listed once. A missing field does not compile.
#pragma once

#include <tuple>

#include "plain/batch_inspection.h"
#include "plain/data_flow.h"
#include "plain/decodings.h"
#include "plain/messages.h"
#include "plain/recurrent_states.h"
#include "plain/snapshot.h"
#include "remote/packets.h"

namespace attnscope {

// ---- Contents of a snapshot

constexpr auto fields_of(const Token*) {
  return std::tuple{&Token::id, &Token::text, &Token::unknown};
}
constexpr auto fields_of(const UnseenWord*) {
  return std::tuple{&UnseenWord::begin, &UnseenWord::end, &UnseenWord::text, &UnseenWord::nearest};
}
constexpr auto fields_of(const Candidate*) {
  return std::tuple{&Candidate::token, &Candidate::logit, &Candidate::probability, &Candidate::tempered,
                    &Candidate::kept};
}
constexpr auto fields_of(const GoldStep*) {
  return std::tuple{&GoldStep::token, &GoldStep::probability, &GoldStep::rank, &GoldStep::best};
}
constexpr auto fields_of(const DecodingStep*) {
  return std::tuple{&DecodingStep::candidates, &DecodingStep::chosen, &DecodingStep::entropy, &DecodingStep::reference};
}
constexpr auto fields_of(const PositionTable*) {
  return std::tuple{&PositionTable::name, &PositionTable::first, &PositionTable::values};
}
constexpr auto fields_of(const HeadPlace*) {
  return std::tuple{&HeadPlace::part, &HeadPlace::layer, &HeadPlace::head};
}
constexpr auto fields_of(const LayerPlace*) {
  return std::tuple{&LayerPlace::decoder, &LayerPlace::layer};
}
constexpr auto fields_of(const ForcedAttention*) {
  return std::tuple{&ForcedAttention::place, &ForcedAttention::query, &ForcedAttention::key};
}
constexpr auto fields_of(const HiddenKeys::Cell*) {
  return std::tuple{&HiddenKeys::Cell::query, &HiddenKeys::Cell::key};
}
constexpr auto fields_of(const HiddenKeys*) {
  return std::tuple{&HiddenKeys::place, &HiddenKeys::cells};
}
constexpr auto fields_of(const ReplacedToken*) {
  return std::tuple{&ReplacedToken::target, &ReplacedToken::position, &ReplacedToken::id, &ReplacedToken::text};
}
constexpr auto fields_of(const Interventions*) {
  return std::tuple{&Interventions::heads_off,    &Interventions::layers_off,  &Interventions::forced,
                    &Interventions::replaced,     &Interventions::hidden,      &Interventions::other_scale,
                    &Interventions::no_residuals, &Interventions::no_positions};
}
constexpr auto fields_of(const HeadInside*) {
  return std::tuple{&HeadInside::place,        &HeadInside::q,          &HeadInside::k,      &HeadInside::v,
                    &HeadInside::bias,         &HeadInside::relative_v, &HeadInside::scaled, &HeadInside::causal,
                    &HeadInside::heads_output, &HeadInside::w_o,        &HeadInside::b_o,    &HeadInside::output};
}
constexpr auto fields_of(const SublayerEffect*) {
  return std::tuple{&SublayerEffect::decoder, &SublayerEffect::layer,      &SublayerEffect::sublayer,
                    &SublayerEffect::norm_in, &SublayerEffect::norm_added, &SublayerEffect::norm_out,
                    &SublayerEffect::cosine,  &SublayerEffect::active};
}
constexpr auto fields_of(const FlowBox*) {
  return std::tuple{&FlowBox::part, &FlowBox::decoder};
}
constexpr auto fields_of(const FlowWanted*) {
  return std::tuple{&FlowWanted::box, &FlowWanted::layer, &FlowWanted::head, &FlowWanted::token,
                    &FlowWanted::convolution};
}
constexpr auto fields_of(const FlowMatrix*) {
  return std::tuple{&FlowMatrix::name,       &FlowMatrix::help,       &FlowMatrix::letters, &FlowMatrix::values,
                    &FlowMatrix::op,         &FlowMatrix::operands,   &FlowMatrix::factor,  &FlowMatrix::causal,
                    &FlowMatrix::row_labels, &FlowMatrix::col_labels, &FlowMatrix::section};
}
constexpr auto fields_of(const FlowParameter*) {
  return std::tuple{&FlowParameter::name, &FlowParameter::sizes};
}
constexpr auto fields_of(const DataFlow*) {
  return std::tuple{&DataFlow::asked, &DataFlow::parameters, &DataFlow::vocab_size, &DataFlow::matrices,
                    &DataFlow::problem};
}
constexpr auto fields_of(const RecurrentWanted*) {
  return std::tuple{&RecurrentWanted::decoder, &RecurrentWanted::layer, &RecurrentWanted::reverse};
}
constexpr auto fields_of(const CellGate*) {
  return std::tuple{&CellGate::name, &CellGate::symbol, &CellGate::from_input, &CellGate::from_state,
                    &CellGate::values};
}
constexpr auto fields_of(const StateAttention*) {
  return std::tuple{&StateAttention::score,    &StateAttention::states,  &StateAttention::memory,
                    &StateAttention::asked,    &StateAttention::keys,    &StateAttention::v,
                    &StateAttention::energies, &StateAttention::weights, &StateAttention::contexts};
}
constexpr auto fields_of(const RecurrentStates*) {
  return std::tuple{&RecurrentStates::asked,     &RecurrentStates::layers, &RecurrentStates::directions,
                    &RecurrentStates::cell,      &RecurrentStates::tokens, &RecurrentStates::gates,
                    &RecurrentStates::h,         &RecurrentStates::c,      &RecurrentStates::first_h,
                    &RecurrentStates::first_c,   &RecurrentStates::source, &RecurrentStates::written,
                    &RecurrentStates::attention, &RecurrentStates::handed, &RecurrentStates::handed_names,
                    &RecurrentStates::read_out};
}
constexpr auto fields_of(const BatchWanted*) {
  return std::tuple{&BatchWanted::part, &BatchWanted::dropout_place};
}
constexpr auto fields_of(const BatchSide*) {
  return std::tuple{&BatchSide::rows, &BatchSide::cols, &BatchSide::ids, &BatchSide::tokens};
}
constexpr auto fields_of(const DropoutPlace*) {
  return std::tuple{&DropoutPlace::name, &DropoutPlace::of_target, &DropoutPlace::columns};
}
constexpr auto fields_of(const BatchInspection*) {
  return std::tuple{&BatchInspection::asked,
                    &BatchInspection::parts,
                    &BatchInspection::step,
                    &BatchInspection::batch,
                    &BatchInspection::source,
                    &BatchInspection::target_in,
                    &BatchInspection::target_out,
                    &BatchInspection::padding_made,
                    &BatchInspection::padding_sorted,
                    &BatchInspection::label_smoothing,
                    &BatchInspection::first_output,
                    &BatchInspection::num_outputs,
                    &BatchInspection::teacher_forcing,
                    &BatchInspection::dropout,
                    &BatchInspection::dropout_places,
                    &BatchInspection::kept,
                    &BatchInspection::problem};
}
constexpr auto fields_of(const Reading*) {
  return std::tuple{&Reading::method, &Reading::number, &Reading::tokens,   &Reading::log_probs, &Reading::log_prob,
                    &Reading::score,  &Reading::text,   &Reading::finished, &Reading::bleu};
}
constexpr auto fields_of(const BeamNode*) {
  return std::tuple{&BeamNode::parent, &BeamNode::step,  &BeamNode::token, &BeamNode::log_prob,
                    &BeamNode::total,  &BeamNode::score, &BeamNode::state};
}
constexpr auto fields_of(const Guess*) {
  return std::tuple{&Guess::token, &Guess::probability};
}
constexpr auto fields_of(const LensCell*) {
  return std::tuple{&LensCell::best, &LensCell::chosen, &LensCell::rank};
}
constexpr auto fields_of(const HypothesisInspection*) {
  return std::tuple{&HypothesisInspection::ids, &HypothesisInspection::text, &HypothesisInspection::queries,
                    &HypothesisInspection::keys, &HypothesisInspection::maps};
}
constexpr auto fields_of(const Decodings*) {
  return std::tuple{&Decodings::readings, &Decodings::tree, &Decodings::length_penalty, &Decodings::ranks,
                    &Decodings::ranked,   &Decodings::lens, &Decodings::hypothesis};
}
constexpr auto fields_of(const Neighbour*) {
  return std::tuple{&Neighbour::id, &Neighbour::cosine};
}
constexpr auto fields_of(const EmbeddingsWanted*) {
  return std::tuple{&EmbeddingsWanted::matrix, &EmbeddingsWanted::step, &EmbeddingsWanted::earlier,
                    &EmbeddingsWanted::chosen, &EmbeddingsWanted::analogy};
}
constexpr auto fields_of(const WordProperties*) {
  return std::tuple{&WordProperties::kind, &WordProperties::gender, &WordProperties::number};
}
constexpr auto fields_of(const TokenFacts*) {
  return std::tuple{&TokenFacts::count, &TokenFacts::on_source, &TokenFacts::word};
}
constexpr auto fields_of(const Vocabulary*) {
  return std::tuple{&Vocabulary::tokens, &Vocabulary::facts, &Vocabulary::knows_words, &Vocabulary::has_sides};
}
constexpr auto fields_of(const EmbeddingMap*) {
  return std::tuple{&EmbeddingMap::points, &EmbeddingMap::shares, &EmbeddingMap::distances,
                    &EmbeddingMap::smallest_norm, &EmbeddingMap::largest_norm};
}
constexpr auto fields_of(const NeighbourList*) {
  return std::tuple{&NeighbourList::step, &NeighbourList::nearest};
}
constexpr auto fields_of(const EmbeddingResult*) {
  return std::tuple{&EmbeddingResult::matrix,     &EmbeddingResult::tied,       &EmbeddingResult::width,
                    &EmbeddingResult::step,       &EmbeddingResult::recorded,   &EmbeddingResult::recorded_steps,
                    &EmbeddingResult::vocabulary, &EmbeddingResult::map,        &EmbeddingResult::problem,
                    &EmbeddingResult::chosen,     &EmbeddingResult::neighbours, &EmbeddingResult::earlier,
                    &EmbeddingResult::apart,      &EmbeddingResult::apart_ids,  &EmbeddingResult::chosen_problem,
                    &EmbeddingResult::analogy,    &EmbeddingResult::answers,    &EmbeddingResult::analogy_problem};
}
constexpr auto fields_of(const Occurrence*) {
  return std::tuple{&Occurrence::sentence, &Occurrence::translation, &Occurrence::group};
}
constexpr auto fields_of(const SenseLayer*) {
  return std::tuple{&SenseLayer::name, &SenseLayer::points, &SenseLayer::shares, &SenseLayer::separation};
}
constexpr auto fields_of(const SenseResult*) {
  return std::tuple{&SenseResult::word,    &SenseResult::step,        &SenseResult::token,  &SenseResult::tokens,
                    &SenseResult::lowered, &SenseResult::grouped_by,  &SenseResult::groups, &SenseResult::occurrences,
                    &SenseResult::layers,  &SenseResult::suggestions, &SenseResult::problem};
}
constexpr auto fields_of(const Snapshot*) {
  return std::tuple{&Snapshot::run,
                    &Snapshot::step,
                    &Snapshot::recorded_weights,
                    &Snapshot::request,
                    &Snapshot::model,
                    &Snapshot::source_text,
                    &Snapshot::output_text,
                    &Snapshot::source,
                    &Snapshot::target_in,
                    &Snapshot::target_out,
                    &Snapshot::forced,
                    &Snapshot::prefix,
                    &Snapshot::truncated,
                    &Snapshot::stopped_at_limit,
                    &Snapshot::unseen,
                    &Snapshot::encoder,
                    &Snapshot::decoder,
                    &Snapshot::cross,
                    &Snapshot::decoding,
                    &Snapshot::positions,
                    &Snapshot::gold,
                    &Snapshot::interventions,
                    &Snapshot::untouched,
                    &Snapshot::inside,
                    &Snapshot::sublayers,
                    &Snapshot::data_flow,
                    &Snapshot::recurrent,
                    &Snapshot::batch,
                    &Snapshot::decodings,
                    &Snapshot::embeddings,
                    &Snapshot::senses};
}

// ---- Requests to the model

constexpr auto fields_of(const SamplingOptions*) {
  return std::tuple{&SamplingOptions::temperature, &SamplingOptions::top_k, &SamplingOptions::top_p,
                    &SamplingOptions::seed};
}
constexpr auto fields_of(const DecodingOptions*) {
  return std::tuple{&DecodingOptions::sampling, &DecodingOptions::num_samples, &DecodingOptions::beam,
                    &DecodingOptions::length_penalty};
}
constexpr auto fields_of(const Probe*) {
  return std::tuple{&Probe::request,       &Probe::text,       &Probe::reference,  &Probe::follow_reference,
                    &Probe::prefix,        &Probe::prefix_ids, &Probe::step,       &Probe::options,
                    &Probe::interventions, &Probe::decoding,   &Probe::hypothesis, &Probe::inside,
                    &Probe::sublayers,     &Probe::data_flow,  &Probe::recurrent,  &Probe::batch,
                    &Probe::embeddings,    &Probe::senses};
}

// ---- Studies and their results

constexpr auto fields_of(const NegativeLogLikelihood*) {
  return std::tuple{&NegativeLogLikelihood::nats, &NegativeLogLikelihood::tokens};
}
constexpr auto fields_of(const LengthScore*) {
  return std::tuple{&LengthScore::words, &LengthScore::pairs, &LengthScore::exact};
}
constexpr auto fields_of(const Confusion*) {
  return std::tuple{&Confusion::labels, &Confusion::counts};
}
constexpr auto fields_of(const Evaluation*) {
  return std::tuple{&Evaluation::pairs,         &Evaluation::too_long,      &Evaluation::unknown_label,
                    &Evaluation::nll,           &Evaluation::bleu,          &Evaluation::exact,
                    &Evaluation::by_length,     &Evaluation::pronoun_pairs, &Evaluation::pronoun_right,
                    &Evaluation::pronoun_exact, &Evaluation::confusion};
}
constexpr auto fields_of(const TextEvaluation*) {
  return std::tuple{&TextEvaluation::nll, &TextEvaluation::characters};
}
constexpr auto fields_of(const TsneStudy*) {
  return std::tuple{&TsneStudy::matrix, &TsneStudy::perplexity};
}
constexpr auto fields_of(const TsneMap*) {
  return std::tuple{&TsneMap::matrix, &TsneMap::perplexity, &TsneMap::ids,
                    &TsneMap::points, &TsneMap::first_kl,   &TsneMap::kl};
}
constexpr auto fields_of(const ValueSite*) {
  return std::tuple{&ValueSite::kind, &ValueSite::part, &ValueSite::layer};
}
constexpr auto fields_of(const Change*) {
  return std::tuple{&Change::kind, &Change::site, &Change::heads, &Change::positions, &Change::one, &Change::other};
}
constexpr auto fields_of(const ChangedRun*) {
  return std::tuple{&ChangedRun::of, &ChangedRun::changes};
}
constexpr auto fields_of(const Effect*) {
  return std::tuple{&Effect::share, &Effect::margin, &Effect::best};
}
constexpr auto fields_of(const ContrastQuestion*) {
  return std::tuple{&ContrastQuestion::clean, &ContrastQuestion::corrupted, &ContrastQuestion::between};
}
constexpr auto fields_of(const Slot*) {
  return std::tuple{&Slot::name, &Slot::positions};
}
constexpr auto fields_of(const ContrastRun*) {
  return std::tuple{&ContrastRun::text, &ContrastRun::tokens, &ContrastRun::output, &ContrastRun::margin};
}
constexpr auto fields_of(const ContrastFacts*) {
  return std::tuple{
      &ContrastFacts::clean,    &ContrastFacts::corrupted, &ContrastFacts::prefix, &ContrastFacts::a,
      &ContrastFacts::b,        &ContrastFacts::words,     &ContrastFacts::differ, &ContrastFacts::language_model,
      &ContrastFacts::recurrent};
}
constexpr auto fields_of(const Sweep*) {
  return std::tuple{&Sweep::of,
                    &Sweep::kind,
                    &Sweep::encoder_states,
                    &Sweep::decoder_states,
                    &Sweep::encoder_feed_forward,
                    &Sweep::decoder_feed_forward,
                    &Sweep::encoder_states_whole,
                    &Sweep::decoder_states_whole,
                    &Sweep::encoder_feed_forward_whole,
                    &Sweep::decoder_feed_forward_whole,
                    &Sweep::encoder_heads,
                    &Sweep::decoder_heads,
                    &Sweep::cross_heads,
                    &Sweep::encoder_rows,
                    &Sweep::decoder_rows,
                    &Sweep::cross_rows};
}
constexpr auto fields_of(const PathEnd*) {
  return std::tuple{&PathEnd::part, &PathEnd::layer, &PathEnd::heads, &PathEnd::positions};
}
constexpr auto fields_of(const SweepQuestion*) {
  return std::tuple{&SweepQuestion::contrasts, &SweepQuestion::one, &SweepQuestion::other, &SweepQuestion::end};
}
constexpr auto fields_of(const SweepResult*) {
  return std::tuple{&SweepResult::question, &SweepResult::problem, &SweepResult::sweeps};
}
constexpr auto fields_of(const Tally*) {
  return std::tuple{&Tally::cases, &Tally::clean_turned, &Tally::corrupted_turned, &Tally::clean_share,
                    &Tally::corrupted_share};
}
constexpr auto fields_of(const Way*) {
  return std::tuple{&Way::kind, &Way::words, &Way::tally};
}
constexpr auto fields_of(const HeadRow*) {
  return std::tuple{&HeadRow::head, &HeadRow::slot};
}
constexpr auto fields_of(const CircuitEdge*) {
  return std::tuple{&CircuitEdge::part,          &CircuitEdge::layer,
                    &CircuitEdge::kind,          &CircuitEdge::members,
                    &CircuitEdge::read,          &CircuitEdge::together,
                    &CircuitEdge::all,           &CircuitEdge::alone,
                    &CircuitEdge::clean_members, &CircuitEdge::corrupted_members,
                    &CircuitEdge::ways};
}
constexpr auto fields_of(const Place*) {
  return std::tuple{&Place::layer, &Place::slots, &Place::together, &Place::rest, &Place::each};
}
constexpr auto fields_of(const Decoy*) {
  return std::tuple{&Decoy::place, &Decoy::from, &Decoy::to, &Decoy::weight, &Decoy::corrupted_weight, &Decoy::effect};
}
constexpr auto fields_of(const Circuit*) {
  return std::tuple{&Circuit::problem, &Circuit::slots, &Circuit::pairs,     &Circuit::reader,
                    &Circuit::places,  &Circuit::edges, &Circuit::exchanged, &Circuit::decoys};
}
constexpr auto fields_of(const ScoreQuestion*) {
  return std::tuple{&ScoreQuestion::contrasts, &ScoreQuestion::sentence, &ScoreQuestion::place,
                    &ScoreQuestion::from,      &ScoreQuestion::to,       &ScoreQuestion::other};
}
constexpr auto fields_of(const ScoreSplit*) {
  return std::tuple{&ScoreSplit::question,  &ScoreSplit::problem, &ScoreSplit::parts,
                    &ScoreSplit::key_parts, &ScoreSplit::terms,   &ScoreSplit::score};
}
constexpr auto fields_of(const FormationPoint*) {
  return std::tuple{&FormationPoint::step, &FormationPoint::difference, &FormationPoint::moved};
}
constexpr auto fields_of(const Formation*) {
  return std::tuple{&Formation::question, &Formation::of, &Formation::points};
}
constexpr auto fields_of(const CircuitResult*) {
  return std::tuple{&CircuitResult::question, &CircuitResult::problem, &CircuitResult::offers, &CircuitResult::example,
                    &CircuitResult::facts,    &CircuitResult::sweeps,  &CircuitResult::found};
}
constexpr auto fields_of(const CorpusCircuit*) {
  return std::tuple{&CorpusCircuit::question, &CorpusCircuit::problem, &CorpusCircuit::tried, &CorpusCircuit::found};
}
constexpr auto fields_of(const Trial*) {
  return std::tuple{&Trial::question, &Trial::run, &Trial::output, &Trial::margin, &Trial::share};
}
constexpr auto fields_of(const CircuitStudy*) {
  return std::tuple{&CircuitStudy::question};
}
constexpr auto fields_of(const CorpusCircuitStudy*) {
  return std::tuple{&CorpusCircuitStudy::question};
}
constexpr auto fields_of(const TrialStudy*) {
  return std::tuple{&TrialStudy::question, &TrialStudy::run};
}
constexpr auto fields_of(const FormationStudy*) {
  return std::tuple{&FormationStudy::question, &FormationStudy::facts, &FormationStudy::circuit};
}
constexpr auto fields_of(const HeldOutStudy*) {
  return std::tuple<>{};
}
constexpr auto fields_of(const AttributionQuestion*) {
  return std::tuple{&AttributionQuestion::text, &AttributionQuestion::output};
}
constexpr auto fields_of(const LogitPart*) {
  return std::tuple{&LogitPart::kind, &LogitPart::place, &LogitPart::logit};
}
constexpr auto fields_of(const ReadingHead*) {
  return std::tuple{&ReadingHead::place, &ReadingHead::weights, &ReadingHead::norms};
}
constexpr auto fields_of(const AttributionResult*) {
  return std::tuple{&AttributionResult::question,       &AttributionResult::problem,
                    &AttributionResult::written,        &AttributionResult::output,
                    &AttributionResult::logit,          &AttributionResult::parts,
                    &AttributionResult::parts_problem,  &AttributionResult::tokens,
                    &AttributionResult::log_prob,       &AttributionResult::baseline_log_prob,
                    &AttributionResult::heads,          &AttributionResult::rollout,
                    &AttributionResult::gradient_input, &AttributionResult::integrated,
                    &AttributionResult::integrated_at,  &AttributionResult::deletion};
}
constexpr auto fields_of(const CostQuestion*) {
  return std::tuple{&CostQuestion::longest, &CostQuestion::seconds, &CostQuestion::megabytes};
}
constexpr auto fields_of(const CostPoint*) {
  return std::tuple{&CostPoint::length, &CostPoint::forward_ms, &CostPoint::backward_ms, &CostPoint::megabytes};
}
constexpr auto fields_of(const CostCurve*) {
  return std::tuple{&CostCurve::layer, &CostCurve::points, &CostCurve::ended};
}
constexpr auto fields_of(const CostResult*) {
  return std::tuple{&CostResult::d_model, &CostResult::heads,  &CostResult::cell,
                    &CostResult::device,  &CostResult::curves, &CostResult::processor_share};
}
constexpr auto fields_of(const GradientQuestion*) {
  return std::tuple{&GradientQuestion::text, &GradientQuestion::output};
}
constexpr auto fields_of(const StackGradients*) {
  return std::tuple{&StackGradients::tokens, &StackGradients::norms};
}
constexpr auto fields_of(const PassGradients*) {
  return std::tuple{&PassGradients::loss, &PassGradients::encoder, &PassGradients::decoder};
}
constexpr auto fields_of(const GradientResult*) {
  return std::tuple{&GradientResult::question, &GradientResult::written, &GradientResult::output,
                    &GradientResult::model,    &GradientResult::plain,   &GradientResult::bare,
                    &GradientResult::problem};
}
constexpr auto fields_of(const HeadsQuestion*) {
  return std::tuple<>{};
}
constexpr auto fields_of(const HeadImportance*) {
  return std::tuple{&HeadImportance::place, &HeadImportance::exact, &HeadImportance::fast};
}
constexpr auto fields_of(const PruningPoint*) {
  return std::tuple{&PruningPoint::heads_left, &PruningPoint::nll, &PruningPoint::off};
}
constexpr auto fields_of(const HeadsResult*) {
  return std::tuple{&HeadsResult::problem, &HeadsResult::tokens, &HeadsResult::nll, &HeadsResult::heads,
                    &HeadsResult::pruning};
}
constexpr auto fields_of(const HeadsHistoryQuestion*) {
  return std::tuple<>{};
}
constexpr auto fields_of(const HeadsPoint*) {
  return std::tuple{&HeadsPoint::step, &HeadsPoint::inspection};
}
constexpr auto fields_of(const HeadsHistory*) {
  return std::tuple{&HeadsHistory::problem, &HeadsHistory::points};
}
constexpr auto fields_of(const LengthQuestion*) {
  return std::tuple{&LengthQuestion::pairs_a_length};
}
constexpr auto fields_of(const LengthPoint*) {
  return std::tuple{&LengthPoint::length, &LengthPoint::pairs, &LengthPoint::exact, &LengthPoint::nll};
}
constexpr auto fields_of(const LengthResult*) {
  return std::tuple{&LengthResult::question, &LengthResult::model,  &LengthResult::text,
                    &LengthResult::trained,  &LengthResult::points, &LengthResult::problem};
}
constexpr auto fields_of(const OrderQuestion*) {
  return std::tuple{&OrderQuestion::text, &OrderQuestion::seed, &OrderQuestion::orders};
}
constexpr auto fields_of(const OrderReading*) {
  return std::tuple{&OrderReading::output, &OrderReading::log_prob};
}
constexpr auto fields_of(const WordOrder*) {
  return std::tuple{&WordOrder::text, &WordOrder::with_positions, &WordOrder::without_positions};
}
constexpr auto fields_of(const OrderResult*) {
  return std::tuple{&OrderResult::question, &OrderResult::positions, &OrderResult::orders, &OrderResult::problem};
}
constexpr auto fields_of(const TensorsQuestion*) {
  return std::tuple{&TensorsQuestion::text};
}
constexpr auto fields_of(const TensorSpread*) {
  return std::tuple{&TensorSpread::count, &TensorSpread::norm,       &TensorSpread::mean,   &TensorSpread::quantiles,
                    &TensorSpread::zeros, &TensorSpread::not_finite, &TensorSpread::silent, &TensorSpread::histogram};
}
constexpr auto fields_of(const TensorPoint*) {
  return std::tuple{&TensorPoint::step, &TensorPoint::values, &TensorPoint::gradient, &TensorPoint::change};
}
constexpr auto fields_of(const TensorHistory*) {
  return std::tuple{&TensorHistory::name, &TensorHistory::shape, &TensorHistory::points, &TensorHistory::last_update};
}
constexpr auto fields_of(const TensorsResult*) {
  return std::tuple{&TensorsResult::question, &TensorsResult::no_gradients, &TensorsResult::parameters,
                    &TensorsResult::activations};
}
constexpr auto fields_of(const StudyResult*) {
  return std::tuple{&StudyResult::run, &StudyResult::step, &StudyResult::answer};
}

// ---- Commands

constexpr auto fields_of(const Train*) {
  return std::tuple<>{};
}
constexpr auto fields_of(const Pause*) {
  return std::tuple<>{};
}
constexpr auto fields_of(const Step*) {
  return std::tuple<>{};
}
constexpr auto fields_of(const Cancel*) {
  return std::tuple<>{};
}
constexpr auto fields_of(const Reset*) {
  return std::tuple{&Reset::config, &Reset::discard_unsaved};
}
constexpr auto fields_of(const Adjust*) {
  return std::tuple{&Adjust::config};
}
constexpr auto fields_of(const Pin*) {
  return std::tuple{&Pin::text};
}
constexpr auto fields_of(const Unpin*) {
  return std::tuple{&Unpin::text};
}
constexpr auto fields_of(const StartStudy*) {
  return std::tuple{&StartStudy::study, &StartStudy::question, &StartStudy::step, &StartStudy::of_other};
}
constexpr auto fields_of(const CancelStudy*) {
  return std::tuple<>{};
}
constexpr auto fields_of(const OpenRun*) {
  return std::tuple{&OpenRun::path, &OpenRun::go_on, &OpenRun::discard_unsaved, &OpenRun::rate_factor};
}
constexpr auto fields_of(const KeepRun*) {
  return std::tuple<>{};
}
constexpr auto fields_of(const ListAutosaves*) {
  return std::tuple<>{};
}
constexpr auto fields_of(const SaveRun*) {
  return std::tuple{&SaveRun::path};
}
constexpr auto fields_of(const Compare*) {
  return std::tuple{&Compare::other, &Compare::anew};
}
constexpr auto fields_of(const EndComparison*) {
  return std::tuple{&EndComparison::other_stays};
}
constexpr auto fields_of(const ListDirectory*) {
  return std::tuple{&ListDirectory::path};
}
constexpr auto fields_of(const WriteFile*) {
  return std::tuple{&WriteFile::path, &WriteFile::bytes, &WriteFile::replace};
}
constexpr auto fields_of(const ReadFile*) {
  return std::tuple{&ReadFile::path, &ReadFile::most_bytes};
}

// ---- Events

constexpr auto fields_of(const Status*) {
  return std::tuple{&Status::activity, &Status::step, &Status::device, &Status::recorded_weights};
}
constexpr auto fields_of(const Progress*) {
  return std::tuple{&Progress::what, &Progress::fraction};
}
constexpr auto fields_of(const Message*) {
  return std::tuple{&Message::severity, &Message::text};
}
constexpr auto fields_of(const Example*) {
  return std::tuple{&Example::source, &Example::target};
}
constexpr auto fields_of(const PinnedSentence*) {
  return std::tuple{&PinnedSentence::text, &PinnedSentence::frames};
}
constexpr auto fields_of(const RunOpened*) {
  return std::tuple{&RunOpened::run,        &RunOpened::name,        &RunOpened::folder,
                    &RunOpened::autosaved,  &RunOpened::saved_to,    &RunOpened::before,
                    &RunOpened::config,     &RunOpened::step,        &RunOpened::num_parameters,
                    &RunOpened::vocab_size, &RunOpened::train_pairs, &RunOpened::validation_pairs,
                    &RunOpened::test_pairs, &RunOpened::examples,    &RunOpened::corpus_follows,
                    &RunOpened::metrics,    &RunOpened::pinned,      &RunOpened::warnings};
}
constexpr auto fields_of(const CorpusRead*) {
  return std::tuple{&CorpusRead::examples, &CorpusRead::warnings};
}
constexpr auto fields_of(const SentencePinned*) {
  return std::tuple{&SentencePinned::text};
}
constexpr auto fields_of(const SentenceUnpinned*) {
  return std::tuple{&SentenceUnpinned::text};
}
constexpr auto fields_of(const FrameRecorded*) {
  return std::tuple{&FrameRecorded::frame};
}
constexpr auto fields_of(const Autosave*) {
  return std::tuple{&Autosave::path, &Autosave::name, &Autosave::step, &Autosave::saved_at};
}
constexpr auto fields_of(const AutosaveList*) {
  return std::tuple{&AutosaveList::runs};
}
constexpr auto fields_of(const RunAutosaved*) {
  return std::tuple<>{};
}
constexpr auto fields_of(const NotSaved*) {
  return std::tuple{&NotSaved::wanted, &NotSaved::why};
}
constexpr auto fields_of(const Diverged*) {
  return std::tuple{&Diverged::step, &Diverged::what, &Diverged::saved, &Diverged::of_other};
}
constexpr auto fields_of(const StudyProgress*) {
  return std::tuple{&StudyProgress::study, &StudyProgress::fraction};
}
constexpr auto fields_of(const StudyEnded*) {
  return std::tuple{&StudyEnded::study, &StudyEnded::result};
}
constexpr auto fields_of(const OfOther*) {
  return std::tuple{&OfOther::what};
}
constexpr auto fields_of(const ComparisonEnded*) {
  return std::tuple{&ComparisonEnded::other_stays};
}
constexpr auto fields_of(const DirectoryEntry*) {
  return std::tuple{&DirectoryEntry::name, &DirectoryEntry::is_directory, &DirectoryEntry::is_run,
                    &DirectoryEntry::size};
}
constexpr auto fields_of(const DirectoryListed*) {
  return std::tuple{&DirectoryListed::path, &DirectoryListed::entries, &DirectoryListed::error};
}
constexpr auto fields_of(const FileWritten*) {
  return std::tuple{&FileWritten::path, &FileWritten::error};
}
constexpr auto fields_of(const FileRead*) {
  return std::tuple{&FileRead::path, &FileRead::bytes, &FileRead::error};
}

// ---- Packets

constexpr auto fields_of(const Hello*) {
  return std::tuple{&Hello::token, &Hello::session, &Hello::next};
}
constexpr auto fields_of(const Welcome*) {
  return std::tuple{&Welcome::session, &Welcome::control};
}
constexpr auto fields_of(const Refused*) {
  return std::tuple{&Refused::why};
}
constexpr auto fields_of(const LoggedEvent*) {
  return std::tuple{&LoggedEvent::number, &LoggedEvent::event};
}
constexpr auto fields_of(const TransientEvent*) {
  return std::tuple{&TransientEvent::event};
}
constexpr auto fields_of(const ProbeReply*) {
  return std::tuple{&ProbeReply::snapshot, &ProbeReply::of_other};
}
constexpr auto fields_of(const Alive*) {
  return std::tuple<>{};
}

// ---- The last value of every enumeration: higher ones are rejected

constexpr AttentionPart last_of(AttentionPart) {
  return AttentionPart::cross;
}
constexpr DropoutPlace::Columns last_of(DropoutPlace::Columns) {
  return DropoutPlace::Columns::target;
}
constexpr FlowPart last_of(FlowPart) {
  return FlowPart::probabilities;
}
constexpr FlowOp last_of(FlowOp) {
  return FlowOp::by_distance;
}
constexpr Method last_of(Method) {
  return Method::sample;
}
constexpr HypothesisState last_of(HypothesisState) {
  return HypothesisState::finished;
}
constexpr EmbeddingMatrix last_of(EmbeddingMatrix) {
  return EmbeddingMatrix::output;
}
constexpr WordKind last_of(WordKind) {
  return WordKind::verb;
}
constexpr WordGender last_of(WordGender) {
  return WordGender::feminine;
}
constexpr WordNumber last_of(WordNumber) {
  return WordNumber::plural;
}
constexpr Sublayer last_of(Sublayer) {
  return Sublayer::feed_forward;
}
constexpr LogitPartKind last_of(LogitPartKind) {
  return LogitPartKind::biases;
}
constexpr CostLayer last_of(CostLayer) {
  return CostLayer::convolution;
}
constexpr ValueKind last_of(ValueKind) {
  return ValueKind::feed_forward;
}
constexpr ChangeKind last_of(ChangeKind) {
  return ChangeKind::exchange;
}
constexpr ContrastSide last_of(ContrastSide) {
  return ContrastSide::corrupted;
}
constexpr Activity last_of(Activity) {
  return Activity::finished;
}
constexpr Severity last_of(Severity) {
  return Severity::error;
}

}  // namespace attnscope
