// The window's words in other languages: the catalogue, and that French has every one of them.
#include "base/translation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/kernel_regression.h"
#include "base/folded.h"
#include "config/architecture.h"
#include "config/pairs.h"
#include "config/position_schemes.h"
#include "config/presets.h"
#include "data/corpus/corpus.h"
#include "messages/metrics.h"
#include "shell/actions.h"
#include "shell/dialogs/palette.h"
#include "shell/glossary/glossary.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "source_literals.h"
#include "ui_harness.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::IsEmpty;

// ---- the catalogue

std::string number(std::uint32_t value) {
  return {static_cast<char>(value), static_cast<char>(value >> 8U), static_cast<char>(value >> 16U),
          static_cast<char>(value >> 24U)};
}

// In msgfmt's format: header, offsets of the texts, the texts, each followed by a NUL.
std::string mo_file(const std::vector<std::pair<std::string, std::string>>& entries) {
  const auto count = static_cast<std::uint32_t>(entries.size());
  std::string head = number(0x950412DE) + number(0) + number(count) + number(28) + number(28 + 8 * count) + number(0) +
                     number(28 + 16 * count);
  std::string english, translated, texts;
  const auto add = [&](std::string& table, const std::string& text) {
    table += number(static_cast<std::uint32_t>(text.size())) +
             number(28 + 16 * count + static_cast<std::uint32_t>(texts.size()));
    texts += text + '\0';
  };
  for (const auto& [from, to] : entries) {
    add(english, from);
    add(translated, to);
  }
  return head + english + translated + texts;
}

class Spoken : public testing::Test {
 protected:
  ~Spoken() override { speak(nullptr); }
  static void speak_of(const std::vector<std::pair<std::string, std::string>>& entries) {
    speak(std::make_shared<Catalogue>(Catalogue::from_mo(mo_file(entries))));
  }
};

TEST_F(Spoken, WordsAreLookedUpByTheEnglish) {
  EXPECT_STREQ(tr("Train"), "Train");
  EXPECT_EQ(trf("{} of {}", 1, 2), "1 of 2");
  speak_of(
      {{"", "Language: fr\n"}, {"Train", "Entraîner"}, {"{} of {}", "{1} dont {0}"}, {"Fit##plot", "Cadrer##plot"}});
  EXPECT_STREQ(tr("Train"), "Entraîner");
  EXPECT_EQ(tr(std::string_view("Train now").substr(0, 5)), "Entraîner");
  EXPECT_STREQ(tr("Pause"), "Pause");
  EXPECT_EQ(trf("{} of {}", 1, 2), "2 dont 1");
  EXPECT_STREQ(tr_label("Train"), "Entraîner###Train");
  EXPECT_STREQ(tr_label("Fit##plot"), "Cadrer###Fit##plot");
  EXPECT_STREQ(tr_label("Pause"), "Pause");
}

TEST_F(Spoken, AFilledTextIsTranslatedByItsPattern) {
  speak_of({{"The model accepts {} tokens, not {}.", "Pas {1} tokens : le modèle en accepte {0}."},
            {"Could not {}: {}", "Impossible de {} : {}"},
            {"save the run", "sauver l'exécution"},
            {"\u201C{}\u201D is not in the vocabulary.", "« {} » n'est pas dans le vocabulaire."},
            {"rollout", "déroulement"},
            {"Ranks: {}.", "Rangs : {}."},
            {"No head is enough. Share: {} %.", "Aucune tête ne suffit. Part : {} %."},
            {"They add up.", "Ils s'additionnent."}});
  EXPECT_EQ(tr_filled("The model accepts 16 tokens, not 20."), "Pas 20 tokens : le modèle en accepte 16.");
  EXPECT_EQ(tr_filled("Could not save the run: disk full"), "Impossible de sauver l'exécution : disk full");
  EXPECT_EQ(tr_filled("\u201Crollout\u201D is not in the vocabulary."), "« rollout » n'est pas dans le vocabulaire.");
  EXPECT_EQ(tr_filled("Ranks: weights 0.5, rollout 0.85."), "Rangs : weights 0.5, déroulement 0.85.");
  EXPECT_EQ(tr_filled("An unknown sentence. Ranks: 1."), "An unknown sentence. Rangs : 1.");
  EXPECT_EQ(tr_filled("No head is enough. Share: 5 %. They add up."),
            "Aucune tête ne suffit. Part : 5 %. Ils s'additionnent.");
  EXPECT_EQ(tr_filled("unknown"), "unknown");
  speak(nullptr);
  EXPECT_EQ(tr_filled("Ranks: rollout 0.85."), "Ranks: rollout 0.85.");
}

TEST(Placeholders, AreThoseOfFmtAndOfPrintf) {
  EXPECT_EQ(placeholders("none, 5 % {{}}"), "");
  EXPECT_EQ(placeholders("{} and {:.2f}"), placeholders("{0} et {1:.2f}"));
  EXPECT_NE(placeholders("{} and {:.2f}"), placeholders("{1:.2f} et {0} et {2}"));
  EXPECT_EQ(placeholders("{1} {0}"), placeholders("{} {}"));
  EXPECT_EQ(placeholders("step %d of %s, 3 %"), placeholders("pas %d sur %s"));
  EXPECT_NE(placeholders("step %d of %s"), placeholders("pas %s sur %d"));
  EXPECT_EQ(placeholders("open { brace"), std::nullopt);
}

TEST_F(Spoken, ATranslationWithOtherValuesIsLeftOut) {
  speak_of({{"{} tokens", "{} {} morceaux"}, {"step %d", "pas %s"}, {"{:d} left", "{:d} reste"}});
  EXPECT_EQ(trf("{} tokens", 3), "3 tokens");
  EXPECT_STREQ(tr("step %d"), "step %d");
  EXPECT_EQ(trf("{:d} left", 3), "3 reste");
}

TEST(Folded, IsInSmallLettersWithoutAccents) {
  EXPECT_EQ(folded("Requête, Œuvre: ÉTÉ naïf ×2 ß"), "requete, oeuvre: ete naif ×2 ß");
  EXPECT_EQ(folded("\xC3"), "\xC3");
}

TEST(CatalogueFile, NoBytesAreTooHostile) {
  const std::string whole = mo_file({{"Train", "Entraîner"}, {"{} of {}", "{} sur {}"}});
  EXPECT_EQ(Catalogue::from_mo(whole).size(), 2U);
  for (std::size_t size = 0; size < whole.size() - 1; ++size)
    EXPECT_THROW(Catalogue::from_mo(whole.substr(0, size)), std::invalid_argument) << size;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string torn = whole;
    torn[at] = static_cast<char>(0xFF);
    try {
      EXPECT_LE(Catalogue::from_mo(torn).size(), 2U);
    } catch (const std::invalid_argument&) {  // or it says so
    }
  }
}

TEST(CatalogueFile, OfAMachineWithTheOtherOrderOfBytesIsReadToo) {
  std::string file = mo_file({{"Train", "Entraîner"}});
  for (std::size_t at = 0; at < 28 + 16; at += 4)
    std::reverse(file.begin() + static_cast<std::ptrdiff_t>(at), file.begin() + static_cast<std::ptrdiff_t>(at) + 4);
  EXPECT_EQ(Catalogue::from_mo(file).find("Train")->text, "Entraîner");
}

// ---- what is to be translated

bool is_marked(const SourceLiteral& literal) {
  for (const char* mark : {"tr(", "trf(", "tr_label(", "mark("}) {
    if (!literal.before.ends_with(mark)) continue;
    const std::size_t begin = literal.before.size() - std::string_view(mark).size();
    const bool whole = begin == 0 || (std::isalnum(static_cast<unsigned char>(literal.before[begin - 1])) == 0 &&
                                      literal.before[begin - 1] != '_');
    if (whole) return true;
  }
  return false;
}

bool has_words(std::string_view text) {
  int letters = 0;
  bool inside = false;  // {…}
  for (const char c : text) {
    inside = c == '{' || (inside && c != '}');
    letters = !inside && std::isalpha(static_cast<unsigned char>(c)) != 0 ? letters + 1 : 0;
    if (letters == 3) return true;
  }
  return false;
}

const std::vector<SourceFile>& window_sources() {
  static const std::vector<SourceFile> files = source_files(ATTNSCOPE_SOURCES "/ui");
  return files;
}

// By text: where it comes from.
using Needed = std::map<std::string, std::string, std::less<>>;

void need(Needed& needed, std::string_view text, std::string_view where) {
  if (!text.empty()) needed.emplace(text, where);
}

void need_boxes(Needed& needed, const ModelConfig& model) {
  const Architecture plan = architecture_of(model);
  for (const bool decoder : {false, true}) {
    for (const ArchitectureBox& box : plan.column(decoder).boxes) {
      need(needed, box.title, "a box of the architecture");
      need(needed, box.help, "a box of the architecture");
    }
  }
}

void need_every_architecture(Needed& needed) {
  for (const char* fields :
       {"", "model.norm=pre", "model.norm_kind=rms", "model.final_norm=true", "model.tied_embeddings=false",
        "model.scaled_embeddings=false", "model.architecture=decoder-only", "model.architecture=classifier",
        "model.architecture=classifier model.reader=recurrent",
        "model.architecture=recurrent model.bidirectional=true"}) {
    Config config;
    std::istringstream words(fields);
    for (std::string word; words >> word;)
      set_field(config, word.substr(0, word.find('=')), word.substr(word.find('=') + 1));
    need_boxes(needed, config.model);
  }
  for (const Preset& preset : presets()) need_boxes(needed, with_preset(preset, {}).model);
  for (const PositionScheme& scheme : position_schemes()) {
    Config config;
    config.model.positions = scheme.name;
    need_boxes(needed, config.model);
  }
  for (const char* cell : {"rnn", "lstm", "gru"}) {
    for (const char* attention : {"none", "bahdanau", "luong-dot", "luong-general", "luong-concat"}) {
      Config config;
      config.model.architecture = "recurrent";
      config.model.cell = cell;
      config.model.attention = attention;
      need_boxes(needed, config.model);
    }
  }
}

void need_tables_of_the_window(Needed& needed) {
  for (const auto& [menu, title] : menus) need(needed, title, "a menu");
  for (const Action& action : actions()) {
    if (action.title.fixed()) need(needed, action.title.fixed(), "an action's title");
    if (action.help.fixed()) need(needed, action.help.fixed(), "an action's help");
  }
  for (const Workspace& workspace : workspaces()) {
    for (const char* text : {workspace.title, workspace.group, workspace.help}) need(needed, text, workspace.name);
    if (workspace.views)
      for (const WorkspaceView& view : workspace.views())
        for (const char* text : {view.title, view.help, view.short_title})
          if (text) need(needed, text, view.name);
    if (workspace.keys)
      for (const WorkspaceKey& key : workspace.keys()) need(needed, key.title, workspace.name);
  }
  for (const Term& term : glossary())
    for (const std::string_view text : {term.name, term.meaning}) need(needed, text, "the glossary");
}

void need_tables_beneath(Needed& needed) {
  for (const ConfigField& field : config_fields())
    for (const std::string_view text : {field.label, field.help}) need(needed, text, field.key);
  for (const Preset& preset : presets()) need(needed, preset.description, preset.name);
  for (const BuiltIn& corpus : built_in_corpora()) need(needed, corpus.description, "a built-in corpus");
  for (const ClassicPair& pair : classic_pairs())
    for (const std::string_view text : {pair.title, pair.watch}) need(needed, text, pair.name);
  for (const PositionScheme& scheme : position_schemes())
    for (const std::string_view text :
         {scheme.heading, scheme.caption, scheme.curves_heading, scheme.curves, scheme.alike})
      need(needed, text, scheme.name);
  for (const MetricRow& row : metric_rows)
    for (const std::string_view text :
         {std::string_view(row.plot.title), std::string_view(row.plot.help), row.line.name})
      need(needed, text, row.key);
  for (const KernelText& kernel : kernel_texts())
    for (const char* text : {kernel.title, kernel.formula, kernel.help}) need(needed, text, kernel.title);
  need_every_architecture(needed);
}

// Texts that the core builds: whole, or as a pattern that is filled there (common/mark.h).
Needed built_texts() {
  Needed texts;
  for (const SourceFile& file : source_files(ATTNSCOPE_SOURCES "/core"))
    for (const SourceLiteral& literal : file.literals)
      if (literal.before.ends_with("mark(")) need(texts, literal.text, file.path);
  return texts;
}

Needed all_needed() {
  Needed needed;
  for (const SourceFile& file : window_sources())
    for (const SourceLiteral& literal : file.literals)
      if (is_marked(literal)) need(needed, literal.text, file.path);
  need_tables_of_the_window(needed);
  need_tables_beneath(needed);
  needed.merge(built_texts());
  return needed;
}

constexpr std::array translated = {Language::french, Language::spanish, Language::chinese};

std::string_view code_of(Language language) {
  return language_codes[static_cast<std::size_t>(language)];
}

std::shared_ptr<const Catalogue> catalogue_of(Language language) {
  std::ifstream stream(fmt::format("{}/{}.mo", ATTNSCOPE_TRANSLATIONS, code_of(language)), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  return std::make_shared<Catalogue>(Catalogue::from_mo(bytes));
}

// A filled text has the translation of its own pattern, not of another that matches it too.
class Translation : public testing::TestWithParam<Language> {
 protected:
  const std::shared_ptr<const Catalogue> catalogue = catalogue_of(GetParam());
};
INSTANTIATE_TEST_SUITE_P(EveryLanguage, Translation, testing::ValuesIn(translated),
                         [](const auto& language) { return std::string(code_of(language.param)); });

TEST_P(Translation, HasTheRightTranslationOfEveryFilledText) {
  const auto filled_with = [](const std::string& pattern) {
    std::string text = std::string(pattern);
    int number = 0;
    for (std::size_t open = 0; (open = text.find('{', open)) != std::string::npos;) {
      const std::size_t close = text.find('}', open);
      const bool numbered = std::isdigit(static_cast<unsigned char>(text[open + 1])) != 0;
      const int value = numbered ? text[open + 1] - '0' : number++;
      text.replace(open, close + 1 - open, std::to_string(70 + value));
    }
    return text;
  };
  speak(catalogue);
  for (const auto& [english, where] : built_texts()) {
    const Catalogue::Entry* entry = catalogue->find(english);
    if (!has_words(english) || !entry) continue;
    EXPECT_EQ(tr_filled(filled_with(english)), filled_with(entry->text)) << where << ": " << english;
  }
  speak(nullptr);
}

// An entry for a catalogue with an empty translation.
std::string entry_of(std::string_view text, std::string_view where) {
  std::string quoted;
  for (const char c : text)
    quoted += c == '\n' ? "\\n" : c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return fmt::format("\n#: {}\nmsgid \"{}\"\nmsgstr \"\"\n", where, quoted);
}

TEST_P(Translation, HasEveryWordOfTheWindow) {
  std::string missing;
  int count = 0;
  for (const auto& [text, where] : all_needed()) {
    if (!has_words(text) || catalogue->find(text)) continue;
    missing += entry_of(text, where);
    ++count;
  }
  EXPECT_EQ(count, 0) << "assets/translations/" << code_of(GetParam())
                      << ".po lacks, or gives other values to:" << missing;
}

TEST_P(Translation, HasNoWordThatTheWindowHasNot) {
  const Needed needed = all_needed();
  std::string idle;
  for (const auto& [text, entry] : *catalogue)
    if (!needed.contains(text)) idle += "\n" + text;
  EXPECT_EQ(idle, "");
}

// Words that are drawn are marked: a literal straight into one of these is not.
TEST(Sources, HandNoUnmarkedWordsToWhatDraws) {
  std::vector<std::string> unmarked;
  for (const SourceFile& file : window_sources()) {
    for (const SourceLiteral& literal : file.literals) {
      const std::string_view shown = std::string_view(literal.text).substr(0, literal.text.find("##"));
      if (!has_words(shown)) continue;
      for (const char* drawing :
           {"ImGui::Button(", "ImGui::SmallButton(", "ImGui::Checkbox(", "ImGui::RadioButton(", "ImGui::MenuItem(",
            "ImGui::BeginMenu(", "ImGui::BeginPopupModal(", "ImGui::TextUnformatted(", "ImGui::Selectable(",
            "ImGui::Text(", "ImGui::TextDisabled(", "ImGui::SetTooltip(", "help_tooltip(", "draw_quiet_note(",
            "draw_caption(", "bold_text(", "dim_text(", "quiet_words(", "draw_choice("})
        if (literal.before.ends_with(drawing)) unmarked.push_back(file.path + ": " + literal.text);
    }
  }
  EXPECT_THAT(unmarked, IsEmpty());
}

TEST(Sources, AreReadAsTheCompilerReadsThem) {
  const auto read = literals_of("f(\"a\"  // \"no\"\n \"b\\n\\u2212\", '\"', 1'000, g(\"\\\"c\\\"\"));");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].text, "ab\n−");
  EXPECT_EQ(read[0].before, "f(");
  EXPECT_EQ(read[1].text, "\"c\"");
}

// ---- the window

class TranslatedWindow : public testing::Test {
 protected:
  TranslatedWindow() {
    for (const Language language : translated)
      scope.translations.catalogues[static_cast<std::size_t>(language)] = catalogue_of(language);
    receive(scope, {fixture_run(20)}, fixture_snapshot({}, 1));
    ui.frames(3, draw);
  }
  ~TranslatedWindow() override { speak(nullptr); }

  AppState scope;
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(TranslatedWindow, ChangesItsLanguageWhileItRuns) {
  EXPECT_TRUE(ui.drew("File"));
  ASSERT_TRUE(ui.click_text("View", draw));
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("Français", draw));
  ui.frames(3, draw);
  EXPECT_EQ(scope.layout.language, Language::french);
  EXPECT_TRUE(ui.drew("Fichier"));
  EXPECT_FALSE(ui.drew("File"));
  ASSERT_TRUE(ui.click_text("Affichage", draw));
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("English", draw));
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("File"));
}

TEST_F(TranslatedWindow, FollowsTheSystemUntilALanguageIsChosen) {
  scope.translations.system = Language::french;
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Fichier"));
  scope.layout.language = Language::english;
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("File"));
}

TEST_F(TranslatedWindow, AnOpenDialogStaysOpen) {
  scope.show_help = true;
  ui.frames(3, draw);
  ASSERT_TRUE(ui.drew("Keys and mouse"));
  scope.layout.language = Language::french;
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Touches et souris"));
  EXPECT_TRUE(scope.show_help);
}

TEST_F(TranslatedWindow, ThePaletteFindsWordsOfTheLanguage) {
  scope.layout.language = Language::french;
  ui.frames(2, draw);
  const auto found = found_in(palette_entries(scope), "Entrain");  // accents and case need not be typed
  EXPECT_TRUE(std::ranges::any_of(found, [](const PaletteEntry& entry) { return entry.title == "Entraîner"; }));
}

TEST_F(TranslatedWindow, DrawsEveryWorkspaceAndView) {
  for (const Language language : translated) {
    scope.layout.language = language;
    for (const Workspace& workspace : workspaces()) {
      show_workspace(scope, workspace);
      ui.frames(2, draw);
      const bool has_glyphs = language != Language::chinese;  // the harness's fonts have no Chinese
      EXPECT_EQ(ui.drew(tr(workspace.title)), has_glyphs) << code_of(language) << " " << workspace.name;
      if (!workspace.views) continue;
      for (std::size_t i = 0; i < workspace.views().size(); ++i) {
        workspace.show(scope.views, i);
        ui.frames(2, draw);
        EXPECT_GT(ui.vertices(), 0) << workspace.views()[i].name;
      }
    }
  }
}

}  // namespace
}  // namespace attnscope
