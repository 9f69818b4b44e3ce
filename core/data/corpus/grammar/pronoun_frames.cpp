#include "data/corpus/grammar/pronoun_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "common/split.h"
#include "data/corpus/grammar/template.h"

namespace attnscope {
namespace {

using enum Tense;
using enum Link;

struct HoverTargets {
  std::string_view a_class, b_class;
};

std::vector<Predicate> predicates(std::string_view text) {
  std::vector<Predicate> all;
  for (const std::string_view entry : split(text, ", ")) {
    const auto [en, fr] = halves(entry, " = ");
    all.push_back({en, fr});
  }
  return all;
}

// Degrees and predicates ("adjective", or "english = french") are separated by commas; after the last comma of "very,
// so, " is the empty degree.
PronounFrame frame(std::string_view name, HoverTargets things, std::vector<Link> links, std::string_view degrees,
                   std::string_view of_a, std::string_view of_b, std::vector<MainClause> mains) {
  return {name,
          things.a_class,
          things.b_class,
          std::move(mains),
          std::move(links),
          split(degrees, ", "),
          predicates(of_a),
          predicates(of_b)};
}

std::vector<PronounFrame> movement_frames() {
  return {
      frame("crossing", {"animal", "place"}, {because, fronted}, "too, so", "tired, lazy, weak, sick, afraid",
            "wide, dangerous, dark, slippery, noisy",
            {{"the [A] didn't cross the [B]", "[le A] n'a pas traversé [le B]"},
             {"the [A] couldn't cross the [B]", "[le A] n'a pas pu traverser [le B]"},
             {"the [A] doesn't cross the [B]", "[le A] ne traverse pas [le B]", present},
             {"the [B] was not crossed by the [A]", "[le B] n'a pas été traversé[e B] par [le A]"}}),
      frame("entering", {"vehicle", "passage"}, {because, fronted}, "too", "big, wide, tall, heavy",
            "small, narrow, low, closed, flooded",
            {{"the [A] couldn't enter the [B]", "[le A] n'a pas pu entrer dans [le B]"},
             {"the [A] didn't enter the [B]", "[le A] n'est pas entré[e A] dans [le B]"},
             {"the [A] can't enter the [B]", "[le A] ne peut pas entrer dans [le B]", present}}),
      frame("choosing a way", {"vehicle", "way"}, {because, fronted}, "too, very",
            "heavy, slow, loaded, damaged in the accident = endommagé[e P] dans l'accident",
            "narrow, dangerous, slippery, blocked",
            {{"the [A] didn't take the [B]", "[le A] n'a pas pris [le B]"},
             {"the [A] doesn't take the [B]", "[le A] ne prend pas [le B]", present},
             {"the [A] couldn't use the [B]", "[le A] n'a pas pu utiliser [le B]"}}),
      frame("climbing", {"animal", "height"}, {because, fronted}, "too, so", "tired, lazy, weak, sick",
            "steep, tall, slippery, dangerous",
            {{"the [A] didn't climb the [B]", "[le A] n'a pas gravi [le B]"},
             {"the [A] couldn't climb the [B]", "[le A] n'a pas pu gravir [le B]"},
             {"the [A] doesn't climb the [B]", "[le A] ne gravit pas [le B]", present}}),
      frame("driving up", {"vehicle", "height"}, {because, fronted}, "too, so", "heavy, slow, loaded",
            "steep, tall, slippery",
            {{"the [A] couldn't go up the [B]", "[le A] n'a pas pu gravir [le B]"},
             {"the [A] didn't reach the top of the [B]", "[le A] n'a pas atteint le sommet [du B]"}}),
      frame("sailing", {"vessel", "water"}, {because, fronted}, "too, so", "old, slow, damaged, fragile",
            "rough, frozen, wide, dangerous",
            {{"the [A] didn't cross the [B]", "[le A] n'a pas traversé [le B]"},
             {"the [A] couldn't cross the [B]", "[le A] n'a pas pu traverser [le B]"},
             {"the [A] doesn't cross the [B]", "[le A] ne traverse pas [le B]", present},
             {"the [B] was not crossed by the [A]", "[le B] n'a pas été traversé[e B] par [le A]"}}),
      frame("jumping over", {"large animal", "hurdle"}, {because, fronted}, "too, so", "tired, lazy, weak, sick",
            "tall, wide, thick",
            {{"the [A] didn't jump over the [B]", "[le A] n'a pas sauté par-dessus [le B]"},
             {"the [A] couldn't jump over the [B]", "[le A] n'a pas pu sauter par-dessus [le B]"},
             {"the [A] doesn't jump over the [B]", "[le A] ne saute pas par-dessus [le B]", present}}),
      frame("overtaking", {"vehicle", "vehicle"}, {because, fronted}, "very, so, ",
            "fast, powerful, in a hurry = pressé[e P]", "slow, loaded, damaged",
            {{"the [A] overtook the [B]", "[le A] a dépassé [le B]"},
             {"the [A] overtakes the [B]", "[le A] dépasse [le B]", present},
             {"the [B] was overtaken by the [A]", "[le B] a été dépassé[e B] par [le A]"}}),
      frame("fleeing", {"prey", "predator"}, {because, fronted}, "very, so, ", "afraid, weak, small",
            "dangerous, aggressive, angry",
            {{"the [A] ran away from the [B]", "[le A] s'est enfui[e A] devant [le B]"},
             {"the [A] runs away from the [B]", "[le A] s'enfuit devant [le B]", present}}),
      frame("crash", {"vehicle", "obstacle"}, {so}, "",
            "stopped = s'est arrêté[e P], needed a new engine = a eu besoin d'un nouveau moteur, lost a wheel = a "
            "perdu une roue",
            "collapsed = s'est effondré[e P], was rebuilt = a été reconstruit[e P]",
            {{"the [A] hit the [B]", "[le A] a heurté [le B]"},
             {"the [B] was hit by the [A]", "[le B] a été heurté[e B] par [le A]"}}),
  };
}

std::vector<PronounFrame> target_frames() {
  return {
      frame("fitting", {"portable", "container"}, {because, fronted}, "too", "big, long, thick, wide",
            "small, narrow, short, full",
            {{"the [A] didn't fit in the [B]", "[le A] ne rentrait pas dans [le B]"},
             {"the [A] doesn't fit in the [B]", "[le A] ne rentre pas dans [le B]", present}}),
      frame("packing", {"portable", "container"}, {because}, "very, so, ", "fragile, precious, beautiful",
            "solid, empty, deep",
            {{"I put the [A] in the [B]", "j'ai mis [le A] dans [le B]"},
             {"we put the [A] in the [B]", "nous avons mis [le A] dans [le B]"}}),
      frame("looking for", {"portable", "container"}, {because, fronted}, "too, very", "lost, sold, broken",
            "small, full, locked", {{"the [A] is not in the [B]", "[le A] n'est pas dans [le B]", present}}),
      frame("breaking", {"projectile", "fragile"}, {because, fronted}, "very, too, so", "heavy, hard, fast",
            "fragile, thin, old",
            {{"the [A] broke the [B]", "[le A] a cassé [le B]"},
             {"the [B] was broken by the [A]", "[le B] a été cassé[e B] par [le A]"}}),
      frame("missing the target", {"projectile", "fragile"}, {because, fronted}, "too, so",
            "slow, light, badly thrown = mal lancé[e P]", "small, narrow, far away = loin",
            {{"the [A] didn't touch the [B]", "[le A] n'a pas touché [le B]"},
             {"the [B] was not touched by the [A]", "[le B] n'a pas été touché[e B] par [le A]"}}),
      frame("falling", {"tableware", "furniture"}, {because, fronted}, "too, very, ",
            "round, badly placed, near the edge = près du bord", "unstable, crooked, narrow",
            {{"the [A] fell off the [B]", "[le A] est tombé[e A] [du B]"}}),
      frame("setting down", {"tableware", "furniture"}, {because}, "too", "heavy, full, precious",
            "narrow, low, unstable, crooked",
            {{"I didn't put the [A] on the [B]", "je n'ai pas posé [le A] sur [le B]"},
             {"we didn't put the [A] on the [B]", "nous n'avons pas posé [le A] sur [le B]"},
             {"I don't put the [A] on the [B]", "je ne pose pas [le A] sur [le B]", present}}),
      frame("knocking over", {"animal", "tableware"}, {because, fronted}, "very, so, ",
            "clumsy, excited, angry, afraid", "light, unstable, empty, badly placed",
            {{"the [A] knocked over the [B]", "[le A] a renversé [le B]"},
             {"the [B] was knocked over by the [A]", "[le B] a été renversé[e B] par [le A]"}}),
      frame("cutting", {"tool", "material"}, {because, fronted}, "very, so, ", "sharp, solid, heavy",
            "soft, thin, fragile",
            {{"the [A] cut the [B]", "[le A] a coupé [le B]"},
             {"the [B] was cut by the [A]", "[le B] a été coupé[e B] par [le A]"}}),
      frame("not cutting", {"tool", "material"}, {because, fronted}, "too", "blunt, bent, light", "hard, thick, solid",
            {{"the [A] didn't cut the [B]", "[le A] n'a pas coupé [le B]"},
             {"the [A] doesn't cut the [B]", "[le A] ne coupe pas [le B]", present},
             {"the [B] was not cut by the [A]", "[le B] n'a pas été coupé[e B] par [le A]"}}),
      frame("lifting", {"lifter", "load"}, {because, fronted}, "very, so, ", "powerful, strong, solid", "light, small",
            {{"the [A] lifted the [B]", "[le A] a soulevé [le B]"},
             {"the [B] was lifted by the [A]", "[le B] a été soulevé[e B] par [le A]"}}),
      frame("not carrying", {"carrier", "load"}, {because, fronted}, "too, so", "weak, slow, old", "heavy, big, wide",
            {{"the [A] couldn't carry the [B]", "[le A] n'a pas pu porter [le B]"},
             {"the [A] didn't carry the [B]", "[le A] n'a pas porté [le B]"},
             {"the [A] doesn't carry the [B]", "[le A] ne porte pas [le B]", present}}),
      frame("opening", {"opener", "locked thing"}, {because, fronted}, "too", "bent, short, thin, soft",
            "blocked, frozen, heavy, solid",
            {{"the [A] didn't open the [B]", "[le A] n'a pas ouvert [le B]"},
             {"the [A] doesn't open the [B]", "[le A] n'ouvre pas [le B]", present}}),
      frame("hiding", {"screen", "building"}, {because, fronted}, "very, so", "tall, big, wide", "small, low",
            {{"the [A] hides the [B]", "[le A] cache [le B]", present},
             {"the [A] hid the [B]", "[le A] cachait [le B]"}}),
      frame("playing", {"instrument", "building"}, {because}, "too", "broken, expensive, fragile",
            "closed, flooded, cold", {{"nobody played the [A] in the [B]", "personne n'a joué [du A] dans [le B]"}}),
      frame("plugging in", {"device", "building"}, {because}, "too", "broken, expensive, damaged, fragile",
            "closed, flooded, damp",
            {{"we didn't use the [A] in the [B]", "nous n'avons pas utilisé [le A] dans [le B]"},
             {"they don't use the [A] in the [B]", "ils n'utilisent pas [le A] dans [le B]", present}}),
  };
}

std::vector<PronounFrame> life_frames() {
  return {
      frame("eating", {"animal", "food"}, {because, fronted}, "very, so, ", "hungry", "fresh, delicious",
            {{"the [A] ate the [B]", "[le A] a mangé [le B]"},
             {"the [A] eats the [B]", "[le A] mange [le B]", present},
             {"the [B] was eaten by the [A]", "[le B] a été mangé[e B] par [le A]"}}),
      frame("not eating", {"animal", "food"}, {because, fronted}, "too, very", "sick, tired, sad, sleepy",
            "salty, bitter, spicy, rotten",
            {{"the [A] didn't eat the [B]", "[le A] n'a pas mangé [le B]"},
             {"the [A] doesn't eat the [B]", "[le A] ne mange pas [le B]", present},
             {"the [A] refused the [B]", "[le A] a refusé [le B]"}}),
      frame("hunting", {"predator", "prey"}, {because, fronted}, "very, so, ", "hungry, fast, patient, clever",
            "slow, weak, wounded",
            {{"the [A] caught the [B]", "[le A] a attrapé [le B]"},
             {"the [A] catches the [B]", "[le A] attrape [le B]", present},
             {"the [B] was caught by the [A]", "[le B] a été attrapé[e B] par [le A]"}}),
      frame("missing", {"predator", "prey"}, {because, fronted}, "too", "slow, tired, lazy, heavy",
            "fast, clever, small",
            {{"the [A] didn't catch the [B]", "[le A] n'a pas attrapé [le B]"},
             {"the [A] doesn't catch the [B]", "[le A] n'attrape pas [le B]", present}}),
      frame("chasing", {"predator", "prey"}, {but}, "too", "slow, tired, lazy, old",
            "fast, clever, small, far away = loin", {{"the [A] wanted the [B]", "[le A] voulait [le B]"}}),
      frame("sleeping", {"animal", "shelter"}, {because, fronted}, "very, so, ", "tired, sleepy, sick",
            "comfortable, dark, dry",
            {{"the [A] slept in the [B]", "[le A] a dormi dans [le B]"},
             {"the [A] sleeps in the [B]", "[le A] dort dans [le B]", present}}),
      frame("leaving", {"animal", "shelter"}, {because, fronted}, "too, very, so", "hungry, thirsty, afraid",
            "noisy, damp, small",
            {{"the [A] left the [B]", "[le A] a quitté [le B]"},
             {"the [A] leaves the [B]", "[le A] quitte [le B]", present}}),
      frame("growing", {"plant", "soil"}, {because, fronted}, "too, so", "sick, weak, fragile", "dark, cold, damp",
            {{"the [A] didn't grow in the [B]", "[le A] n'a pas poussé dans [le B]"},
             {"the [A] doesn't grow in the [B]", "[le A] ne pousse pas dans [le B]", present}}),
      frame("destroying", {"force", "structure"}, {because, fronted}, "very, too, so", "violent, powerful, strong",
            "old, fragile, rotten",
            {{"the [A] destroyed the [B]", "[le A] a détruit [le B]"},
             {"the [B] was destroyed by the [A]", "[le B] a été détruit[e B] par [le A]"}}),
      frame("cooking", {"raw food", "cooker"}, {because, fronted}, "too", "frozen, thick, big",
            "broken, small, damaged",
            {{"the [A] didn't cook in the [B]", "[le A] n'a pas cuit dans [le B]"},
             {"the [A] doesn't cook in the [B]", "[le A] ne cuit pas dans [le B]", present}}),
      frame("replacing things", {"device", "device"}, {because}, "very, so", "broken, old, dirty, ugly",
            "modern, solid, beautiful",
            {{"we replaced the [A] with the [B]", "nous avons remplacé [le A] par [le B]"},
             {"I replaced the [A] with the [B]", "j'ai remplacé [le A] par [le B]"},
             {"they are replacing the [A] with the [B]", "ils remplacent [le A] par [le B]", present}}),
      frame("preferring buildings", {"building", "building"}, {because}, "very, so, ",
            "beautiful, modern, quiet, clean", "ugly, dirty, noisy, dark",
            {{"I prefer the [A] to the [B]", "je préfère [le A] [au B]", present},
             {"we preferred the [A] to the [B]", "nous avons préféré [le A] [au B]"}}),
      frame("choosing clothes", {"clothing", "clothing"}, {because}, "very, so, ", "beautiful, comfortable, light",
            "ugly, expensive, dirty",
            {{"they chose the [A] and not the [B]", "ils ont choisi [le A] et pas [le B]"},
             {"we bought the [A] and not the [B]", "nous avons acheté [le A] et pas [le B]"},
             {"I bought the [A] and not the [B]", "j'ai acheté [le A] et pas [le B]"}}),
  };
}

bool agrees(const Predicate& said) {
  if (!said.fr.empty()) return said.fr.find('[') != std::string_view::npos;
  const Adjective& quality = adjective(said.en);
  return quality.state != State::avoir && quality.m != quality.f;
}

// Retains only the first of the agreeing predicates, or as many as make two in total.
std::vector<Predicate> fewer_agreeing(const std::vector<Predicate>& all) {
  std::ptrdiff_t left = std::max<std::ptrdiff_t>(1, 2 - std::ranges::count_if(all, std::not_fn(agrees)));
  std::vector<Predicate> kept;
  std::ranges::copy_if(all, std::back_inserter(kept),
                       [&](const Predicate& said) { return !agrees(said) || left-- > 0; });
  return kept;
}

struct ReasonWords {
  std::string_view en, fr, fr_fronted;
};

constexpr ReasonWords reason_words[] = {
    // in the order of Reason
    {"because", "parce que", "comme"},
    {"since", "puisque", "puisque"},
    {"as", "car", "comme"},
};

std::string conjoined(std::string_view word, const std::string& clause) {
  return word.ends_with("que") ? elided(word, clause) : fmt::format("{} {}", word, clause);
}

}  // namespace

Clause joined(Link link, const Clause& main, const Clause& said, Reason reason) {
  const ReasonWords& words = reason_words[static_cast<std::size_t>(reason)];
  switch (link) {
    case because:
      return {fmt::format("{} {} {}", main.en, words.en, said.en),
              fmt::format("{} {}", main.fr, conjoined(words.fr, said.fr))};
    case fronted:
      return {fmt::format("{} {}, {}", words.en, said.en, main.en),
              fmt::format("{}, {}", conjoined(words.fr_fronted, said.fr), main.fr)};
    case but:
      return {fmt::format("{}, but {}", main.en, said.en), fmt::format("{}, mais {}", main.fr, said.fr)};
    case so:
      return {fmt::format("{}, so {}", main.en, said.en), fmt::format("{}, alors {}", main.fr, said.fr)};
  }
  throw std::logic_error("there is no such link");
}

Reason drawn_reason(Link link, Random& random) {
  if ((link != because && link != fronted) || random.below(100) >= 50) return Reason::because;
  return random.below(2) == 0 ? Reason::since : Reason::as;
}

bool is_famous(std::string_view a, std::string_view b) {
  return a == "animal" && b == "street";
}

std::vector<PronounFrame> pronoun_frames() {
  std::vector<PronounFrame> frames = movement_frames();
  for (auto* more : {&target_frames, &life_frames}) {
    std::vector<PronounFrame> group = more();
    frames.insert(frames.end(), std::make_move_iterator(group.begin()), std::make_move_iterator(group.end()));
  }
  for (PronounFrame& frame : frames) {
    frame.of_a = fewer_agreeing(frame.of_a);
    frame.of_b = fewer_agreeing(frame.of_b);
  }
  return frames;
}

}  // namespace attnscope
