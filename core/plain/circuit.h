// Which parts of a model carry the difference between two sentences: what is asked, and what was found. Activation
// patching and its readings: Vig et al. (arXiv 2004.12265), Heimersheim & Nanda (2404.15255).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plain/heads.h"
#include "plain/matrix.h"
#include "plain/patching.h"
#include "plain/snapshot.h"

namespace attnscope {

// ---- a run of the model on one of the two sentences, with changes

enum class ChangeKind {
  contrast,  // the value of the run on the other sentence
  zero,      // nothing
  mean,      // the mean over all positions of both sentences
  exchange,  // the weights on two words change places
};

struct Change {
  ChangeKind kind = ChangeKind::contrast;
  ValueSite site;               // of an exchange: heads
  std::vector<int> heads = {};  // of heads
  std::vector<int> positions;   // of the tokens, or of the queries
  std::vector<int> one = {};    // exchange: the positions of the one word …
  std::vector<int> other = {};  // … and of the other
};

enum class ContrastSide { clean, corrupted };

constexpr ContrastSide other(ContrastSide contrast) {
  return contrast == ContrastSide::clean ? ContrastSide::corrupted : ContrastSide::clean;
}

struct ChangedRun {
  ContrastSide of = ContrastSide::corrupted;  // whose run is changed: corrupted, that is denoising; clean, noising
  std::vector<Change> changes = {};
};

// log p(a) − log p(b) at the step asked about, and the piece that is the most probable there.
struct Odds {
  double margin = 0;
  int best = 0;
};

// What a sweep says of one place. A share is 0 where the change does nothing, 1 where it gives all that the other
// sentence has: (m − m_x) / (m_c − m_x) of the corrupted run, (m_c − m) / (m_c − m_x) of the clean one.
struct Effect {
  float share = 0;
  float margin = 0;
  int best = 0;  // piece
};

// ---- the question

// Two sentences that differ in little, and the step where it shows.
struct ContrastQuestion {
  std::string clean;
  std::string corrupted;
  std::vector<std::string> between = {};  // the two words whose odds are asked for; empty: where the outputs part
  bool operator==(const ContrastQuestion&) const = default;
};

// A word or a sign, and where its pieces stand.
struct Slot {
  std::string name;
  std::vector<int> positions;
  bool operator==(const Slot&) const = default;
};

// The words of a text, a sign that ends one by itself.
std::vector<Slot> slots_of(std::span<const Token> tokens);

// Two runs beside each other.
struct ContrastRun {
  std::string text;
  std::vector<Token> tokens;  // the source with </s>, or a language model's prompt
  std::string output;         // as the model writes it by itself
  double margin = 0;
};

struct ContrastFacts {
  ContrastRun clean, corrupted;
  std::vector<Token> prefix;  // what both have written before the step
  Token a, b;                 // between which they part
  std::vector<Slot> words;    // of the source; names as in the clean sentence
  std::vector<int> differ;    // those of `words` that are not the same in both
  bool language_model = false;
  bool recurrent = false;  // what stands at a word, after a layer, is the network's state, handed on from there

  const ContrastRun& of(ContrastSide contrast) const { return contrast == ContrastSide::clean ? clean : corrupted; }
  double effect() const { return clean.margin - corrupted.margin; }
};

inline constexpr double least_margin = 0.5;  // nats: less is no answer

// The clean sentence is answered with a, the corrupted one with b.
inline bool tells_apart(const ContrastFacts& facts) {
  return facts.clean.margin >= least_margin && facts.corrupted.margin <= -least_margin;
}

// ---- sweeps: one change after another

// Row-major.
struct EffectGrid {
  int rows = 0;
  int cols = 0;
  std::vector<Effect> effects;

  const Effect& at(int row, int col) const { return effects[static_cast<std::size_t>(row) * cols + col]; }
  Effect& at(int row, int col) { return effects[static_cast<std::size_t>(row) * cols + col]; }
  bool empty() const { return effects.empty(); }
};

// Every place of a model, one after another, in one of the two runs. Empty where a model has no such part.
struct Sweep {
  ContrastSide of = ContrastSide::corrupted;
  ChangeKind kind = ChangeKind::contrast;
  EffectGrid encoder_states, decoder_states;              // layers + 1 × positions: as embedded, after layer 1, …
  EffectGrid encoder_feed_forward, decoder_feed_forward;  // layers × positions
  EffectGrid encoder_states_whole, decoder_states_whole;  // as many × 1, at all positions together
  EffectGrid encoder_feed_forward_whole, decoder_feed_forward_whole;
  EffectGrid encoder_heads, decoder_heads, cross_heads;            // layers × heads, at all positions together
  std::vector<EffectGrid> encoder_rows, decoder_rows, cross_rows;  // [layer]: heads × positions

  const EffectGrid& heads(AttentionPart part) const {
    const bool decoder = part == AttentionPart::decoder;
    return part == AttentionPart::encoder ? encoder_heads : decoder ? decoder_heads : cross_heads;
  }
  const std::vector<EffectGrid>& rows(AttentionPart part) const {
    const bool decoder = part == AttentionPart::decoder;
    return part == AttentionPart::encoder ? encoder_rows : decoder ? decoder_rows : cross_rows;
  }
};

// Where a path ends: these heads, as queries at these positions.
struct PathEnd {
  AttentionPart part = AttentionPart::encoder;
  int layer = 0;
  std::vector<int> heads;
  std::vector<int> positions;
  bool operator==(const PathEnd&) const = default;
};

// Of heads and feed-forwards a sweep that needs more than a kind: two words, or where a path ends.
struct SweepQuestion {
  ContrastQuestion contrasts;
  std::vector<int> one = {}, other = {};  // the positions of two words: every head's weights on them are exchanged
  // Else the other sentence's values are put in, and only what of them goes straight to these heads counts: what
  // stands between gives what it gave (path patching: Wang et al. 2022, arXiv 2211.00593; 2304.05969).
  PathEnd end = {};
  bool operator==(const SweepQuestion&) const = default;
  bool is_exchange() const { return !one.empty(); }
};

struct SweepResult {
  SweepQuestion question;
  std::string problem = {};   // why there is none, in one sentence
  std::vector<Sweep> sweeps;  // of the clean run, of the corrupted; of a path the states' first row alone
};

// True if what stands at `site` reaches the heads without passing through another.
bool goes_straight(const ValueSite& site, const PathEnd& end);

// ---- the smallest set

// How many answers a change turns, and the share of the effect that it moves, in the clean runs and in the corrupted.
struct Tally {
  int cases = 0;  // of each
  int clean_turned = 0, corrupted_turned = 0;
  double clean_share = 0, corrupted_share = 0;  // means

  int turned() const { return clean_turned + corrupted_turned; }
  double share() const { return (clean_share + corrupted_share) / 2; }
};

// What one kind of change to the same rows does.
struct Way {
  ChangeKind kind = ChangeKind::contrast;
  std::vector<int> words = {};  // slots, of an exchange
  Tally tally = {};
};

// One query's row of one head.
struct HeadRow {
  int head = 0;
  int slot = 0;  // of Circuit::slots, or of the decoder's: see Hop
  bool operator==(const HeadRow&) const = default;
};

// One attention through which the difference goes on its way.
struct CircuitEdge {
  AttentionPart part = AttentionPart::encoder;
  int layer = 0;
  ChangeKind kind = ChangeKind::contrast;  // twin: its heads' outputs are put in; exchange: the weights on two words
  std::vector<HeadRow> members = {};       // the fewest that turn the answers; in cross-attention and in the decoder of
                                           // a translator slot 0 is the step asked about, 1 all before it
  std::vector<int> read = {};              // the slots that these look at, or that are exchanged
  Tally together = {};                     // the members
  Tally all = {};                          // every head of the attention
  std::vector<Tally> alone = {};           // of each head, at all the members' slots
  // Of the members, the fewest that turn as many of the clean runs' answers, and of the corrupted runs'.
  std::vector<HeadRow> clean_members = {}, corrupted_members = {};
  std::vector<Way> ways = {};  // what else can be done to the members: `kind` first, then the others
  std::vector<int> heads() const;
  std::vector<int> slots() const;
};

// Where the difference stands in the residual stream: the fewest words whose vectors carry it.
struct Place {
  int layer = 0;  // after so many
  std::vector<int> slots;
  Tally together;           // these slots' vectors put in
  Tally rest;               // all the others'
  std::vector<Tally> each;  // every slot's by itself
};

// A head that looks elsewhere for the other sentence, and moves nothing.
struct Decoy {
  HeadPlace place;
  int from = 0, to = 0;                     // slots: whose row, which word
  double weight = 0, corrupted_weight = 0;  // where it looks there, and for the other sentence
  Tally effect = {};                        // of its whole output
};

struct Circuit {
  std::string problem;             // why there is none, in one sentence; empty: there is one
  std::vector<std::string> slots;  // the words of the source, of a language model the prompt and then "the step"
  int pairs = 0;                   // counted over
  AttentionPart reader =
      AttentionPart::encoder;      // whose states the places are: encoder or, of a language model, decoder
  std::vector<Place> places;       // one for every layer, as embedded first
  std::vector<CircuitEdge> edges;  // in the order of the pass
  std::vector<int> exchanged;      // the two words whose exchange turns most, whether enough or not; or none
  std::vector<Decoy> decoys;
};

// Why one of a hop's heads is not enough, in one sentence from the numbers; empty where it is.
std::string why_not_one(const CircuitEdge& edge);

// ---- why a head looks where it looks

// Of one of the two sentences: the score of a word's query with a word's key, less its score with another's.
struct ScoreQuestion {
  ContrastQuestion contrasts;
  ContrastSide sentence = ContrastSide::clean;
  HeadPlace place;  // of what reads the sentence
  int from = 0;     // ContrastFacts::words
  int to = 0;
  int other = -1;  // −1: nothing is taken off
  bool operator==(const ScoreQuestion&) const = default;
};

// That score as a sum, the scales of the layer norms held fast: what each part of the residual stream brings to the
// query times what each brings to the key. Where scores are told the distance (T5, ALiBi, Shaw), that is a part of the
// key's, beside all others. Of words of several pieces the mean.
struct ScoreSplit {
  ScoreQuestion question;
  std::string problem = {};                 // why there is none, in one sentence
  std::vector<std::string> parts = {};      // "the word", "its place", "L1 H2", "feed-forward 1", "biases"
  std::vector<std::string> key_parts = {};  // the same, and "the distance"
  Matrix terms = {};                        // query's parts × key's parts, before the softmax
  double score = 0;                         // as the model computes it: the sum of the terms
};

// ---- over training

// The parts of a circuit at one step of the training, in nats of log p(a) − log p(b) where the two outputs part at
// last: shares of a difference mean nothing as long as there is none.
struct FormationPoint {
  std::int64_t step = 0;
  double difference = 0;      // between the two sentences: all that is to be moved
  std::vector<double> moved;  // by the vectors at the place after the last layer, then by the members of each hop; the
                              // mean of both directions
};

// How a circuit came to be.
struct Formation {
  ContrastQuestion question;
  Circuit of;
  std::vector<FormationPoint> points;  // ascending
};

// ---- what a window is told

struct CircuitResult {
  ContrastQuestion question;        // with the twin that was found, where none was given
  std::string problem = {};         // why there is nothing more than the offers, in one sentence; empty: there is
  std::vector<std::string> offers;  // other twins of the clean sentence
  ContrastFacts facts;
  std::vector<Sweep> sweeps;  // of either run by each kind that needs no two words: see sweep()
  Circuit found;

  const Sweep& sweep(ContrastSide of, ChangeKind kind) const;  // std::out_of_range where it was not made
};

// Counted over the pairs of the corpus that are like the one asked about.
struct CorpusCircuit {
  ContrastQuestion question;
  std::string problem = {};
  int tried = 0;
  Circuit found;
};

// One change, and all that is written then.
struct Trial {
  ContrastQuestion question;
  ChangedRun run;
  std::string output;
  double margin = 0;
  double share = 0;
};

}  // namespace attnscope
