// Sentences in which "it" can only be translated by finding its antecedent.
#include <fmt/format.h>

#include <array>
#include <set>
#include <stdexcept>
#include <string>

#include "data/corpus/grammar/clause.h"
#include "data/corpus/grammar/grammar.h"
#include "data/corpus/grammar/lexicon.h"
#include "data/corpus/grammar/pronoun_frames.h"
#include "data/corpus/grammar/template.h"

namespace attnscope {
namespace {

// One combination of a frame's free variables; predicates are numbered with those of A first, then those of B.
struct Choice {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t main = 0;
  std::size_t link = 0;
  std::size_t predicate = 0;
  std::size_t degree = 0;
  std::size_t a_attribute = 0, b_attribute = 0, aside = 0;  // 0: none
  Reason reason = Reason::because;
  auto operator<=>(const Choice&) const = default;
};

// Sentences per hundred with an attribute: "the tired animal" contains a possible predicate of "it", so only the words
// after "it was" decide.
constexpr std::size_t attribute_percentage = 40;
// Sentences per hundred with an aside: after ", and my mother was tired" not all words after "because" refer to "it".
constexpr std::size_t aside_percentage = 30;

// Nine of them are also said of things and animals, in the frames.
constexpr std::array<std::string_view, 20> facts_about_people = {
    "happy", "kind", "brave", "rich", "famous", "jealous", "young",   "excited", "tired", "lazy",
    "sick",  "old",  "sad",   "weak", "strong", "clever",  "patient", "slow",    "small", "angry"};

class FrameWriter {
 public:
  explicit FrameWriter(const PronounFrame& frame)
      : frame_(frame),
        a_nouns_(noun_class(frame.a_class)),
        b_nouns_(noun_class(frame.b_class)),
        a_attributes_(attributes(frame.of_a)),
        b_attributes_(attributes(frame.of_b)) {}

  // Every sentence about these two things.
  std::vector<Draft> all_about(std::string_view a, std::string_view b) const;

  // `wanted` different sentences. In three quarters the two nouns differ in gender, so that il/elle is decisive. In
  // half of each kind the antecedent is A, and half of those are masculine: neither frame nor position reveals the
  // gender.
  std::vector<Draft> some(std::size_t wanted, Random& random) const;

 private:
  bool of_a(const Choice& choice) const { return choice.predicate < frame_.of_a.size(); }
  const Predicate& predicate(const Choice& choice) const {
    return of_a(choice) ? frame_.of_a[choice.predicate] : frame_.of_b[choice.predicate - frame_.of_a.size()];
  }
  const Noun& antecedent(const Choice& choice) const {
    return of_a(choice) ? *a_nouns_[choice.a] : *b_nouns_[choice.b];
  }
  static std::vector<const Adjective*> attributes(const std::vector<Predicate>& said);
  Choice draw(Random& random) const;
  void draw_attributes(Choice& choice, Random& random) const;
  void draw_aside(Choice& choice, Random& random) const;
  bool possible(const Choice& choice) const;
  Clause facts_about_it(const Choice& choice, const Slots& slots) const;
  Clause with_aside(Clause clause, const Choice& choice) const;
  Draft write(const Choice& choice) const;

  const PronounFrame& frame_;
  std::vector<Subject> people_ = subjects();
  std::vector<const Noun*> a_nouns_;
  std::vector<const Noun*> b_nouns_;
  std::vector<const Adjective*> a_attributes_;
  std::vector<const Adjective*> b_attributes_;
};

bool has_degrees(const Predicate& predicate) {
  return predicate.fr.empty() && adjective(predicate.en).state != State::fixed;
}

// The one-word attributes that can be placed with a noun.
std::vector<const Adjective*> FrameWriter::attributes(const std::vector<Predicate>& said) {
  std::vector<const Adjective*> all;
  for (const Predicate& each : said) {
    if (!each.fr.empty() || each.en.find(' ') != std::string_view::npos) continue;
    if (adjective(each.en).state != State::avoir) all.push_back(&adjective(each.en));
  }
  return all;
}

void FrameWriter::draw_attributes(Choice& choice, Random& random) const {
  if (random.below(100) >= attribute_percentage) return;
  const std::size_t whose = random.below(3);  // A's, B's, or both
  if (whose != 1 && !a_attributes_.empty()) choice.a_attribute = 1 + random.below(a_attributes_.size());
  if (whose != 0 && !b_attributes_.empty()) choice.b_attribute = 1 + random.below(b_attributes_.size());
}

void FrameWriter::draw_aside(Choice& choice, Random& random) const {
  const bool wanted = random.below(100) < aside_percentage;
  const std::size_t which = random.below(facts_about_people.size() * people_.size());
  if (wanted && frame_.links[choice.link] != Link::fronted) choice.aside = 1 + which;
}

Choice FrameWriter::draw(Random& random) const {
  const bool a_side = random.below(2) == 0;
  Choice choice = {
      .a = random.below(a_nouns_.size()),
      .b = random.below(b_nouns_.size()),
      .main = random.below(frame_.mains.size()),
      .link = random.below(frame_.links.size()),
      .predicate = a_side ? random.below(frame_.of_a.size()) : frame_.of_a.size() + random.below(frame_.of_b.size()),
      .degree = random.below(frame_.degrees.size())};
  draw_attributes(choice, random);
  draw_aside(choice, random);
  choice.reason = drawn_reason(frame_.links[choice.link], random);
  return choice;
}

bool FrameWriter::possible(const Choice& choice) const {
  if (a_nouns_[choice.a] == b_nouns_[choice.b]) return false;
  const auto says = [&](std::size_t attribute, const std::vector<const Adjective*>& all) {
    return attribute > 0 && all[attribute - 1]->en == predicate(choice).en;
  };
  if (says(choice.a_attribute, a_attributes_) || says(choice.b_attribute, b_attributes_)) return false;
  return has_degrees(predicate(choice)) || choice.degree == 0;  // without degrees all choices give the same sentence
}

// The words after "it" and "il".
Clause FrameWriter::facts_about_it(const Choice& choice, const Slots& slots) const {
  const Predicate& said = predicate(choice);
  if (frame_.links[choice.link] == Link::so) return {std::string(said.en), slots.french(said.fr)};
  const Tense tense = frame_.mains[choice.main].tense;
  const Phrase& is = being(Person::he, tense);
  if (!said.fr.empty())
    return {fmt::format("{} {}", is.en, said.en), fmt::format("{} {}", is.fr, slots.french(said.fr))};

  const Adjective& quality = adjective(said.en);
  const Phrase& much = degree(has_degrees(said) ? frame_.degrees[choice.degree] : "");
  const std::string_view verb = quality.state != State::avoir ? is.fr : tense == Tense::past ? "avait" : "a";
  const std::string form = agreed(quality, {.gender = antecedent(choice).gender, .plural = false});
  return {fmt::format("{} {}", is.en, with_degree(much.en, said.en)),
          fmt::format("{} {}", verb, with_degree(much.fr, form))};
}

Clause FrameWriter::with_aside(Clause clause, const Choice& choice) const {
  if (choice.aside == 0) return clause;
  const Subject& who = people_[(choice.aside - 1) / facts_about_people.size()];
  const Adjective& quality = adjective(facts_about_people[(choice.aside - 1) % facts_about_people.size()]);
  const Clause aside = quality_clause(who, quality, degree(""), frame_.mains[choice.main].tense);
  return {fmt::format("{}, and {}", clause.en, aside.en), fmt::format("{}, et {}", clause.fr, aside.fr)};
}

Draft FrameWriter::write(const Choice& choice) const {
  const Noun& a = *a_nouns_[choice.a];
  const Noun& b = *b_nouns_[choice.b];
  const Noun& it = antecedent(choice);
  Slots slots;
  slots.noun('A', a).noun('B', b).noun('P', it);
  if (choice.a_attribute > 0) slots.attribute('A', *a_attributes_[choice.a_attribute - 1]);
  if (choice.b_attribute > 0) slots.attribute('B', *b_attributes_[choice.b_attribute - 1]);
  const MainClause& main = frame_.mains[choice.main];
  const Clause said = facts_about_it(choice, slots);
  const std::string pronoun = it.gender == 'f' ? "elle" : "il";
  Clause both = with_aside(joined(frame_.links[choice.link], {slots.english(main.en), slots.french(main.fr)},
                                  {"it " + said.en, fmt::format("{} {}", pronoun, said.fr)}, choice.reason),
                           choice);
  return {.pair = {.source = sentence(std::move(both.en)),
                   .target = sentence(std::move(both.fr)),
                   .category = "pronoun",
                   .antecedent = std::string(it.en),
                   .pronoun = pronoun},
          .key = fmt::format("{}|{}|{}", frame_.name, a.en, b.en),
          .pinned = is_famous(a.en, b.en)};
}

std::vector<Draft> FrameWriter::all_about(std::string_view a, std::string_view b) const {
  std::vector<Draft> drafts;
  const auto position = [](const std::vector<const Noun*>& nouns, std::string_view english) {
    for (std::size_t i = 0; i < nouns.size(); ++i) {
      if (nouns[i]->en == english) return i;
    }
    throw std::logic_error(fmt::format("\"{}\" does not occur in this frame", english));
  };
  Choice choice{.a = position(a_nouns_, a), .b = position(b_nouns_, b)};
  for (choice.main = 0; choice.main < frame_.mains.size(); ++choice.main) {
    for (choice.link = 0; choice.link < frame_.links.size(); ++choice.link) {
      for (choice.predicate = 0; choice.predicate < frame_.of_a.size() + frame_.of_b.size(); ++choice.predicate) {
        for (choice.degree = 0; choice.degree < frame_.degrees.size(); ++choice.degree) {
          if (possible(choice)) drafts.push_back(write(choice));
        }
      }
    }
  }
  return drafts;
}

std::vector<Draft> FrameWriter::some(std::size_t wanted, Random& random) const {
  std::vector<Draft> drafts;
  std::set<Choice> taken;
  std::array<std::size_t, 8> filled{};
  const std::size_t same_gender = wanted / 4 / 4;
  const std::size_t mixed_gender = wanted / 4 - same_gender;
  // Small frames run out of sentences: stops if most draws give nothing new.
  for (std::size_t attempt = 0; attempt < 40 * wanted && drafts.size() < wanted; ++attempt) {
    const Choice choice = draw(random);
    if (!possible(choice)) continue;
    const bool mixed = a_nouns_[choice.a]->gender != b_nouns_[choice.b]->gender;
    const std::size_t feminine = antecedent(choice).gender == 'f' ? 1 : 0;
    std::size_t& cell = filled[(mixed ? 4 : 0) + (of_a(choice) ? 2 : 0) + feminine];
    if (cell == (mixed ? mixed_gender : same_gender) || !taken.insert(choice).second) continue;
    ++cell;
    drafts.push_back(write(choice));
  }
  return drafts;
}

}  // namespace

std::vector<Draft> pronoun_drafts(std::size_t wanted, Random& random) {
  const std::vector<PronounFrame> frames = pronoun_frames();
  std::vector<Draft> drafts;
  for (const PronounFrame& frame : frames) {
    const FrameWriter writer(frame);
    for (Draft& draft : writer.some(wanted / frames.size(), random)) {
      if (!draft.pinned) drafts.push_back(std::move(draft));
    }
    if (frame.name != "crossing") continue;
    for (Draft& draft : writer.all_about("animal", "street")) drafts.push_back(std::move(draft));
  }
  return drafts;
}

}  // namespace attnscope
