#include "shell/glyphs.h"

#include <utility>

#include "base/drawable_text.h"
#include "base/fonts.h"
#include "base/translation.h"
#include "shell/app_state.h"

namespace attnscope {
namespace {

// Controls, joiners and marks of direction, which are not drawn.
bool is_invisible(char32_t sign) {
  return sign < 0x20 || (sign >= 0x7F && sign < 0xA0) || (sign >= 0x200B && sign <= 0x200F) ||
         (sign >= 0x2028 && sign <= 0x202E) || (sign >= 0x2060 && sign <= 0x206F) || sign == 0xFEFF;
}

constexpr char32_t last_held = 0xFFFF;  // Dear ImGui's glyphs are 16-bit

}  // namespace

std::string missing_font_text(char32_t sign, std::string_view package) {
  return trf("No installed font has the character U+{:04X}. Install the package {}, then open the window again",
             static_cast<unsigned>(sign), package);
}

std::set<char32_t> Glyphs::new_in(const AppState& scope, bool menu_open) {
  const auto changed = [](auto& last, const auto& now) {
    const bool differs = last != now;
    if (differs) last = now;
    return differs;
  };
  read_what_is_short(scope);
  if (changed(language_, language_of(scope))) read_language(scope);
  if (menu_open)
    for (const char* title : language_titles) read(title);
  if (changed(run_, scope.a.run.run)) {
    for (const Example& example : scope.a.run.examples) {
      read(example.source);
      read(example.target);
    }
  }
  const ShownMaps maps = shown_maps(scope);
  if (changed(newest_, maps.newest.snapshot) && newest_) read(*newest_);
  if (changed(complete_, maps.complete.snapshot) && complete_) read(*complete_);
  return std::exchange(new_, {});
}

// Sentences, names and messages: in every frame, because that is cheaper than detecting changes.
void Glyphs::read_what_is_short(const AppState& scope) {
  for (const std::string* text : {&scope.layout.sentence, &scope.reference, &scope.dropped_file, &scope.a.run.name,
                                  &scope.a.run.folder, &scope.saved_to, &scope.edited.corpus.source})
    read(*text);
  for (const std::string& sentence : scope.layout.recent) read(sentence);
  for (const PinnedSentence& sentence : scope.a.history.sentences()) read(sentence.text);
  for (const Toast& toast : scope.toasts) read(toast.message.text);
  if (!scope.browser.open) return;
  read(scope.browser.path_text);
  for (const DirectoryEntry& entry : scope.browser.listing.entries) read(entry.name);
}

// The window's text and the lessons.
void Glyphs::read_language(const AppState& scope) {
  if (const auto& catalogue = scope.translations.catalogues[static_cast<std::size_t>(language_)])
    for (const auto& [english, entry] : *catalogue) read(entry.text);
  for (const Lesson& lesson : scope.facts.lessons)
    for (const Words* words : words_of(lesson)) read(words->in(language_));
}

void Glyphs::read(const Snapshot& snapshot) {
  read(snapshot.output_text);
  for (const auto* tokens : {&snapshot.source, &snapshot.target_in, &snapshot.target_out})
    for (const Token& token : *tokens) read(token.text);
  for (const DecodingStep& step : snapshot.decoding)
    for (const Candidate& candidate : step.candidates) read(candidate.token.text);
  const auto vocabulary = snapshot.embeddings ? snapshot.embeddings->vocabulary : nullptr;
  if (!vocabulary || std::exchange(vocabulary_, vocabulary) == vocabulary) return;
  for (const std::string& token : vocabulary->tokens) read(token);
}

void Glyphs::read(const std::string& text) {
  if (is_bidirectional(text)) read_characters(visual_order(text));  // the joined forms of Arabic
  read_characters(text);
}

void Glyphs::read_characters(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t sign = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length && at + i < text.size(); ++i)
      sign = sign << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
    at += length;
    if (!is_invisible(sign) && !is_in_own_fonts(sign) && sign <= last_held && requested_.insert(sign).second)
      new_.insert(sign);
  }
}

}  // namespace attnscope
