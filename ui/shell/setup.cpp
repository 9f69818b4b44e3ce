#include "shell/panels.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "config/presets.h"
#include "shell/purposes.h"
#include "shell/training.h"
#include "widgets/number_field.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

// The settings that a beginner changes; a section shows its other fields on demand, or at Density::everything.
constexpr std::array<std::string_view, 8> basic_fields = {
    "corpus.source",   "model.architecture",       "model.d_model",
    "model.num_heads", "model.num_encoder_layers", "model.num_decoder_layers",
    "model.positions", "training.steps",
};

using Complaints = std::map<std::string_view, std::string>;  // by key

bool is_basic(std::string_view key) {
  return std::ranges::find(basic_fields, key) != basic_fields.end();
}

std::string_view section_of(const ConfigField& field) {
  return field.key.substr(0, field.key.find('.'));
}

bool differs(const ConfigField& field, const Config& a, const Config& b) {
  return field_text(a, field) != field_text(b, field);
}

bool is_builtin(const Facts& facts, const std::string& name) {
  return std::ranges::find(facts.corpora, name, &BuiltinCorpus::name) != facts.corpora.end();
}

// The last component of a path, which fits into the column.
std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

bool draw_corpus_combo(AppState& scope, const Skin& skin) {
  std::string& source = scope.edited.corpus.source;
  bool changed = false;
  const std::string shown = source.empty() ? tr("choose one") : file_name(source);
  if (!begin_combo("##corpus.source", shown, ImGuiComboFlags_HeightLarge)) return false;
  for (const BuiltinCorpus& corpus : scope.facts.corpora) {
    if (ImGui::Selectable(corpus.name.c_str(), corpus.name == source)) {
      source = corpus.name;
      scope.edited.corpus.target.clear();
      changed = true;
    }
    help_tooltip(tr(std::string_view(corpus.description)), skin);
  }
  if (!source.empty() && !is_builtin(scope.facts, source)) selectable_text(file_name(source), true);
  ImGui::Separator();
  if (ImGui::Selectable(tr_label("File…"))) choose(scope, Purpose::open_corpus);
  help_tooltip(tr("Opens a text file: sentence pairs (source, tab, target), or any text for a decoder-only model."),
               skin);
  ImGui::EndCombo();
  return changed;
}

// Shows the end of a path longer than its field, until it is edited.
void show_end(const std::string& path, const Skin& skin) {
  const ImVec2 low = ImGui::GetItemRectMin();
  const ImVec2 high = ImGui::GetItemRectMax();
  const float padding = ImGui::GetStyle().FramePadding.x;
  const float width = ImGui::CalcTextSize(path.c_str()).x;
  if (ImGui::IsItemActive() || width <= high.x - low.x - padding * 2) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(low, high, skin.theme.raised, ImGui::GetStyle().FrameRounding);
  list.PushClipRect(ImVec2(low.x + padding, low.y), high, true);
  list.AddText(ImVec2(high.x - padding - width, low.y + ImGui::GetStyle().FramePadding.y), skin.theme.text,
               path.c_str());
  list.PopClipRect();
}

bool draw_path(AppState& scope, const ConfigField& field, std::string& path, Purpose purpose, const Skin& skin) {
  const float button = ImGui::GetFrameHeight();
  ImGui::BeginGroup();  // one hover target
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - button - skin.px(4));
  const std::string id = fmt::format("##{}", field.key);
  const bool changed = ImGui::InputTextWithHint(id.c_str(), tr("none"), &path);
  show_end(path, skin);
  ImGui::SameLine(0, skin.px(4));
  if (ImGui::Button(fmt::format("…##{}", field.key).c_str(), ImVec2(button, 0))) choose(scope, purpose);
  ImGui::EndGroup();
  return changed;
}

// Path of a run; set by the action "Initialize from these weights".
bool draw_origin(std::string& path, const Skin& skin) {
  const bool changed = ImGui::InputTextWithHint("##model.from", tr("random weights"), &path);
  show_end(path, skin);
  return changed;
}

bool draw_choices(const AppState& scope, const ConfigField& field, std::string& value, const Skin& skin) {
  bool changed = false;
  if (!begin_combo(fmt::format("##{}", field.key).c_str(), value)) return false;
  for (const std::string_view choice : field.limits.choices) {
    const bool absent = choice == "cuda" && !scope.facts.cuda_available;
    ImGui::BeginDisabled(absent);
    const std::string text = absent ? tr("cuda (no CUDA device here)") : std::string(choice);
    if (ImGui::Selectable(text.c_str(), value == choice)) {
      value = choice;
      changed = true;
    }
    ImGui::EndDisabled();
    if (absent) help_tooltip(tr("This build or this machine has no CUDA device. Training uses the CPU."), skin);
  }
  ImGui::EndCombo();
  return changed;
}

bool draw_integer(const ConfigField& field, std::int64_t& value, const Skin& skin) {
  const bool small = field.limits.max <= 256;  // small enough for step buttons
  return number_input(fmt::format("##{}", field.key).c_str(), value, static_cast<std::int64_t>(field.limits.min),
                      static_cast<std::int64_t>(field.limits.max), small, skin);
}

bool draw_real(const ConfigField& field, double& value, const Skin& skin) {
  const bool wide =
      field.limits.min > 0 || field.limits.max > 1;  // rates and factors, which vary by orders of magnitude
  return number_slider(fmt::format("##{}", field.key).c_str(), value, field.limits.min, field.limits.max,
                       wide ? "%.4g" : "%.2f", wide ? ImGuiSliderFlags_Logarithmic : 0, skin);
}

bool draw_text_field(AppState& scope, const ConfigField& field, std::string& value, const Skin& skin) {
  if (field.key == "corpus.source") return draw_corpus_combo(scope, skin);
  if (field.key == "corpus.target") return draw_path(scope, field, value, Purpose::open_target, skin);
  if (field.key == "tokenizer.path") return draw_path(scope, field, value, Purpose::open_tokenizer, skin);
  if (field.key == "model.from") return draw_origin(value, skin);
  if (field.key == "corpus.separator") return ImGui::InputTextWithHint("##corpus.separator", tr("a tab"), &value);
  return draw_choices(scope, field, value, skin);
}

bool draw_value(AppState& scope, const ConfigField& field, const Skin& skin) {
  const FieldPointer pointer = field.value(scope.edited);
  if (auto* const* integer = std::get_if<std::int64_t*>(&pointer)) return draw_integer(field, **integer, skin);
  if (auto* const* real = std::get_if<double*>(&pointer)) return draw_real(field, **real, skin);
  if (auto* const* flag = std::get_if<bool*>(&pointer)) {
    return ImGui::Checkbox(fmt::format("##{}", field.key).c_str(), *flag);
  }
  return draw_text_field(scope, field, **std::get_if<std::string*>(&pointer), skin);
}

std::string help_text(const ConfigField& field, const Config& config) {
  std::string text = fmt::format("{}\n{}", field.key, tr(field.help));
  if (field.limits.max > field.limits.min && field.limits.choices.empty()) {
    text += trf("\n{} to {}{}{}", field.limits.min, field.limits.max, field.limits.unit.empty() ? "" : " ",
                field.limits.unit);
  }
  text += field.live ? tr("\nApplied immediately.") : tr("\nApplied on Reset.");
  // A path may be wider than the column.
  const std::string value = field_text(config, field);
  if (value.find('/') != std::string::npos) text += "\n" + value;
  return text;
}

// Draws the label, with a dot while the value is pending until Reset.
void draw_label(const ConfigField& field, const std::string& help, bool waits, float width, const Skin& skin) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  ImGui::AlignTextToFramePadding();
  ImGui::PushClipRect(corner, ImVec2(corner.x + width, corner.y + ImGui::GetFrameHeight()), true);
  colored_text(waits ? skin.theme.text : mixed(skin.theme.text, skin.theme.text_dim, 0.6F), tr(field.label));
  ImGui::PopClipRect();
  help_tooltip(help, skin, field.key);
  if (!waits) return;
  const float r = skin.px(2.5F);
  ImGui::GetWindowDrawList()->AddCircleFilled(ImVec2(corner.x - r * 2.2F, corner.y + ImGui::GetFrameHeight() * 0.5F), r,
                                              skin.theme.warning);
}

// Width of the widest label, limited to leave room for the values.
float label_column(const Skin& skin) {
  float width = 0;
  for (const ConfigField& field : config_fields()) {
    const std::string_view label = tr(field.label);
    width = std::max(width, ImGui::CalcTextSize(label.data(), label.data() + label.size()).x);
  }
  return std::min(width + skin.px(4), ImGui::GetContentRegionAvail().x * 0.56F);
}

// The preset with the present values; null: none.
const Preset* present_preset(const Config& config) {
  for (const Preset& known : presets()) {
    if (with_preset(known, config.corpus) == config) return &known;
  }
  return nullptr;
}

void draw_presets(Config& edited, float label_width, const Skin& skin) {
  constexpr const char* help = mark(
      "Sets all fields below to a named configuration: a size to start with, or a published result to reproduce. The "
      "corpus stays as it is, except in the presets of an experiment. Applied on Reset.");
  const float left = ImGui::GetCursorPosX();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(tr("Preset"));
  help_tooltip(tr(help), skin);
  ImGui::SameLine(left + label_width + skin.px(4));
  ImGui::SetNextItemWidth(-1);
  const Preset* present = present_preset(edited);
  const std::string preview(present ? present->name : tr("choose one"));
  const bool open = begin_combo("##preset", preview, ImGuiComboFlags_HeightLarge);
  if (!open) return help_tooltip(tr(present ? present->description : help), skin);
  for (const Preset& known : presets()) {
    if (ImGui::Selectable(std::string(known.name).c_str(), &known == present)) {
      edited = with_preset(known, edited.corpus);
    }
    help_tooltip(tr(known.description), skin);
  }
  ImGui::EndCombo();
}

// Returns true if a live field was edited.
bool draw_field(AppState& scope, const ConfigField& field, const std::string& complaint, float label_width,
                const Skin& skin) {
  const float left = ImGui::GetCursorPosX();
  const bool wanted = scope.field_to_show == field.key;
  if (wanted) ImGui::SetScrollHereY(0.3F);
  const std::string help = help_text(field, scope.edited);
  draw_label(field, help, !field.live && differs(field, scope.a.run.config, scope.edited), label_width, skin);
  ImGui::SameLine(left + label_width + skin.px(4));
  ImGui::SetNextItemWidth(-1);
  if (!complaint.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Border, skin.theme.error);
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, skin.px(1.5F));
  }
  if (wanted) focus_next_item();
  const bool may_edit = field.live ? may_control(scope) : may_replace(scope);
  ImGui::BeginDisabled(!may_edit);
  const bool edited = draw_value(scope, field, skin);
  ImGui::EndDisabled();
  if (!complaint.empty()) {
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
  }
  const char* why_not = field.live ? only_watches : only_where_it_trains;
  help_tooltip(may_edit ? help : fmt::format("{}\n{}", help, tr(why_not)), skin, field.key);
  if (!complaint.empty()) small_text(skin.theme.error, complaint, skin);
  return edited && field.live;
}

using SectionTitle = std::pair<std::string_view, const char*>;
constexpr std::array section_titles = {
    SectionTitle{"corpus", mark("Corpus")},
    SectionTitle{"tokenizer", mark("Tokenizer")},
    SectionTitle{"model", mark("Model")},
    SectionTitle{"training", mark("Training")},
};

void draw_heading(std::string_view section, const Skin& skin) {
  ImGui::Dummy(ImVec2(0, skin.px(2)));
  bold_text(tr(std::ranges::find(section_titles, section, &SectionTitle::first)->second), skin);
}

void draw_corpus_fact(const RunOpened& run, const Skin& skin) {
  if (run.config.corpus.source.empty()) {
    small_text(skin.theme.warning, tr("none yet: choose one to train on"), skin);
    help_tooltip(tr("This model comes from another program, without its training corpus. Choose a corpus, and Train "
                    "continues from its weights. The original folder is not changed."),
                 skin);
    return;
  }
  const bool text = run.config.model.reads_text();
  small_text(skin.theme.text_dim,
             trf("{} train, {} validation, {} test{}", grouped(run.train_pairs), grouped(run.validation_pairs),
                 grouped(run.test_pairs), text ? tr(" characters") : ""),
             skin);
  help_tooltip(
      text ? tr("Characters of running text in each part. The text is split once; the test part is never trained on.")
      : run.config.model.is_classifier()
          ? tr("Labeled texts in each part. They are split once, by the seed; the test part is never trained on.")
          : tr("Sentence pairs in each part. They are split once, by the seed; the test pairs are never trained on."),
      skin);
}

void draw_facts(const AppState& scope, std::string_view section, const Skin& skin) {
  const RunOpened& run = scope.a.run;
  if (run.run == 0) return;
  if (section == "corpus") {
    draw_corpus_fact(run, skin);
  } else if (section == "tokenizer") {
    small_text(skin.theme.text_dim, trf("{} tokens in the vocabulary", grouped(run.vocab_size)), skin);
    help_tooltip(
        tr("The size of the vocabulary that the tokenizer learned. A small corpus yields fewer tokens than requested."),
        skin);
  } else if (section == "model") {
    small_text(skin.theme.text_dim, trf("{} parameters", grouped(run.num_parameters)), skin);
    help_tooltip(tr("Number of trained parameters, from the embeddings to the output matrix."), skin);
  } else {
    small_text(skin.theme.text_dim, scope.a.status.device, skin);
  }
}

// Returns true if a live field was edited.
bool draw_section(AppState& scope, std::string_view section, const Complaints& complaints, float labels,
                  const Skin& skin) {
  const bool everything = scope.layout.density == Density::everything;
  bool& all = scope.all_settings[section];
  bool live_edited = false;
  int others = 0;
  draw_heading(section, skin);
  for (const ConfigField& field : config_fields()) {
    if (section_of(field) != section) continue;
    const auto found = complaints.find(field.key);
    const bool used = is_used(scope.edited, field), basic = is_basic(field.key);
    others += used && !basic;
    if ((used && (everything || all || basic)) || found != complaints.end())
      live_edited |= draw_field(scope, field, found == complaints.end() ? std::string() : found->second, labels, skin);
  }
  draw_facts(scope, section, skin);
  if (everything || others == 0) return live_edited;
  const std::string label = all ? std::string(tr("Fewer settings")) : trf("All settings ({} more)", others);
  if (ImGui::SmallButton(fmt::format("{}##{}", label, section).c_str())) all = !all;
  return live_edited;
}

void draw_waiting(AppState& scope, int waiting, bool valid, const Skin& skin) {
  ImGui::Separator();
  const Color32 color = !valid ? skin.theme.error : waiting > 0 ? skin.theme.warning : skin.theme.text_dim;
  ImGui::AlignTextToFramePadding();
  const std::string text = !valid         ? tr("Invalid value: see above")
                           : waiting == 0 ? tr("No pending changes")
                           : waiting == 1 ? tr("1 pending change, applied on Reset")
                                          : trf("{} pending changes, applied on Reset", waiting);
  colored_text(color, text);
  const float width = (ImGui::GetContentRegionAvail().x - skin.px(14)) * 0.5F;
  ImGui::BeginDisabled(!can_reset(scope) || (waiting == 0 && has_run(scope)));
  if (ImGui::Button(tr_label("Apply"), ImVec2(width, 0))) reset(scope);
  ImGui::EndDisabled();
  help_tooltip(
      !valid ? tr("A value is out of range: see the red text above.")
      : scope.edited.model.from.empty()
          ? tr("Resets the run with these settings: new random weights; the corpus and the tokenizer are rebuilt if "
               "their settings changed.")
          : tr("Resets the run with these settings, starting from the weights named in \u201CInitialize from\u201D."),
      skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::BeginDisabled(scope.edited == scope.a.run.config);
  if (ImGui::Button(tr_label("Revert"), ImVec2(width, 0))) scope.edited = scope.a.run.config;
  ImGui::EndDisabled();
  help_tooltip(tr("Restores the settings of the current run."), skin);
}

}  // namespace

Complaints field_complaints(const Config& config) {
  std::map<std::string_view, std::string> complaints;
  for (const ConfigField& field : config_fields()) {
    try {
      Config scratch;
      set_field(scratch, field.key, field_text(config, field));
    } catch (const ConfigError& error) {
      complaints[field.key] = error.what();
    }
  }
  if (!complaints.empty()) return complaints;
  // Errors that involve several fields: the message starts with the field to change.
  const std::string complaint = config_complaint(config);
  for (const ConfigField& field : config_fields()) {
    if (complaint.rfind(std::string(field.key) + " ", 0) == 0) complaints[field.key] = complaint;
  }
  return complaints;
}

int waiting_fields(const Config& running, const Config& edited) {
  int count = 0;
  for (const ConfigField& field : config_fields()) {
    count += !field.live && is_used(edited, field) && differs(field, running, edited);
  }
  return count;
}

void show_field(AppState& scope, std::string_view key) {
  scope.layout.setup_open = true;
  if (!is_basic(key)) scope.all_settings[key.substr(0, key.find('.'))] = true;
  scope.field_to_show = key;
}

void draw_setup(AppState& scope, const Skin& skin) {
  const auto complaints = field_complaints(scope.edited);
  const float footer = ImGui::GetFrameHeightWithSpacing() * 2 + skin.px(8);
  bool live_edited = false;
  ImGui::BeginChild("fields", ImVec2(0, -footer), false, column_flags());
  ImGui::Indent(skin.px(9));  // room for the dots
  const float labels = label_column(skin);
  draw_presets(scope.edited, labels, skin);
  for (const auto& [section, title] : section_titles)
    live_edited |= draw_section(scope, section, complaints, labels, skin);
  scope.field_to_show = {};
  ImGui::Unindent(skin.px(9));
  ImGui::EndChild();
  draw_waiting(scope, waiting_fields(scope.a.run.config, scope.edited), complaints.empty(), skin);
  if (live_edited) adjust(scope);
}

}  // namespace attnscope
