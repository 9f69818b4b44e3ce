// Greetings and everyday phrases.
#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus/grammar/grammar.h"
#include "data/corpus/grammar/template.h"

namespace attnscope {
namespace {

// Openings of a conversation, closings, and answers that stand alone.
constexpr Phrase openings[] = {
    {"hello", "bonjour"}, {"good morning", "bonjour"},  {"good evening", "bonsoir"},
    {"hi", "salut"},      {"excuse me", "excusez-moi"},
};
constexpr Phrase farewells[] = {{"goodbye", "au revoir"}, {"good night", "bonne nuit"}, {"thank you", "merci"}};
constexpr Phrase answers[] = {{"yes", "oui"}, {"no", "non"}, {"please", "s'il vous plaît"}, {"welcome", "bienvenue"}};

constexpr Phrase names[] = {
    {"Paul", "Paul"},
    {"Emma", "Emma"},
    {"Anna", "Anna"},
    {"Peter", "Peter"},
    {"Lucy", "Lucy"},
    {"Thomas", "Thomas"},
    {"Mr Martin", "monsieur Martin"},
    {"Mrs Martin", "madame Martin"},
    {"Mr Dubois", "monsieur Dubois"},
    {"Mrs Dubois", "madame Dubois"},
    {"Mr Smith", "monsieur Smith"},
    {"Mrs Smith", "madame Smith"},
    {"doctor", "docteur"},
    {"my friends", "mes amis"},
    {"everybody", "tout le monde"},
};

constexpr Phrase phrases[] = {
    {"how are you?", "comment allez-vous?"},
    {"what is your name?", "comment vous appelez-vous?"},
    {"where do you live?", "où habitez-vous?"},
    {"what time is it?", "quelle heure est-il?"},
    {"do you speak English?", "parlez-vous anglais?"},
    {"do you speak French?", "parlez-vous français?"},
    {"can you help me?", "pouvez-vous m'aider?"},
    {"where is the station?", "où est la gare?"},
    {"how much is this?", "combien ça coûte?"},
    {"are you tired?", "êtes-vous fatigué?"},
    {"do you understand?", "comprenez-vous?"},
    {"I am very well.", "je vais très bien."},
    {"I am sorry.", "je suis désolé."},
    {"I don't understand.", "je ne comprends pas."},
    {"I don't know.", "je ne sais pas."},
    {"I am learning French.", "j'apprends le français."},
    {"I live in Paris.", "j'habite à Paris."},
    {"I am hungry.", "j'ai faim."},
    {"I am thirsty.", "j'ai soif."},
    {"I am cold.", "j'ai froid."},
    {"it is raining.", "il pleut."},
    {"it is cold today.", "il fait froid aujourd'hui."},
    {"it is late.", "il est tard."},
    {"sit down, please.", "asseyez-vous, s'il vous plaît."},
    {"come in, please.", "entrez, s'il vous plaît."},
    {"speak slowly, please.", "parlez lentement, s'il vous plaît."},
    {"wait a moment.", "attendez un moment."},
    {"happy birthday!", "joyeux anniversaire!"},
    {"that is right.", "c'est juste."},
    {"we are ready.", "nous sommes prêts."},
    {"my name is Paul.", "je m'appelle Paul."},
    {"my name is Emma.", "je m'appelle Emma."},
};

constexpr Phrase wishes[] = {
    {"see you tomorrow.", "à demain."},
    {"see you soon.", "à bientôt."},
    {"have a nice day.", "bonne journée."},
};

Draft greeting(std::string source, std::string target) {
  std::string key = fmt::format("greeting|{}", source);
  return {.pair = {.source = std::move(source), .target = std::move(target), .category = "greeting"},
          .key = std::move(key)};
}

std::string finished(std::string_view text) {
  return sentence(std::string(text));
}

// Adds each opening alone and with each of the phrases, addressed to nobody and to everybody.
void add_openings(std::span<const Phrase> first, std::span<const Phrase> then, std::vector<Draft>& drafts) {
  std::vector<Phrase> called = {{"", ""}};
  for (const Phrase& name : names) called.push_back(name);
  for (const Phrase& opening : first) {
    for (const Phrase& name : called) {
      const std::string_view comma = name.en.empty() ? "" : ", ";
      const std::string en = sentence(fmt::format("{}{}{}", opening.en, comma, name.en));
      const std::string fr = sentence(fmt::format("{}{}{}", opening.fr, comma, name.fr));
      drafts.push_back(greeting(en, fr));
      for (const Phrase& phrase : then) {
        drafts.push_back(
            greeting(fmt::format("{} {}", en, finished(phrase.en)), fmt::format("{} {}", fr, finished(phrase.fr))));
      }
    }
  }
}

}  // namespace

std::vector<Draft> greeting_drafts(std::size_t wanted, Random& random) {
  std::vector<Draft> drafts;
  for (const Phrase& phrase : phrases) drafts.push_back(greeting(finished(phrase.en), finished(phrase.fr)));
  for (const Phrase& wish : wishes) drafts.push_back(greeting(finished(wish.en), finished(wish.fr)));
  add_openings(openings, phrases, drafts);
  add_openings(farewells, wishes, drafts);
  add_openings(answers, {}, drafts);
  return drawn(std::move(drafts), wanted, random);
}

}  // namespace attnscope
