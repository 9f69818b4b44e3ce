#include "shell/toolbar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "shell/timeline.h"
#include "shell/weight_choice.h"
#include "widgets/tooltip.h"

namespace attnscope {
namespace {

void draw_icon(ImDrawList& list, Icon icon, ImVec2 center, float r, Color32 color) {
  const auto at = [&](float x, float y) { return ImVec2(center.x + x * r, center.y + y * r); };
  switch (icon) {
    case Icon::play:
      list.AddTriangleFilled(at(-0.7F, -0.9F), at(0.9F, 0), at(-0.7F, 0.9F), color);
      break;
    case Icon::pause:
      list.AddRectFilled(at(-0.75F, -0.85F), at(-0.2F, 0.85F), color);
      list.AddRectFilled(at(0.2F, -0.85F), at(0.75F, 0.85F), color);
      break;
    case Icon::step:
      list.AddTriangleFilled(at(-0.85F, -0.85F), at(0.4F, 0), at(-0.85F, 0.85F), color);
      list.AddRectFilled(at(0.45F, -0.85F), at(0.85F, 0.85F), color);
      break;
    case Icon::reset:
      list.PathArcTo(center, r * 0.8F, -0.5F, 4.4F, 20);
      list.PathStroke(color, 0, r * 0.28F);
      list.AddTriangleFilled(at(0.15F, -0.62F), at(1.05F, -0.9F), at(0.95F, 0.15F), color);
      break;
  }
}

}  // namespace

bool icon_button(const char* label, Icon icon, Color32 icon_color, bool enabled, std::string_view help,
                 const Look& look) {
  ImGui::BeginDisabled(!enabled);
  const float height = ImGui::GetFrameHeight();
  const float text_width = ImGui::CalcTextSize(label).x;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const std::string id = std::string("##") + label;
  const bool clicked = ImGui::Button(id.c_str(), ImVec2(text_width + height + look.px(8), height));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float alpha = enabled ? 1.0F : 0.45F;
  draw_icon(list, icon, ImVec2(corner.x + height * 0.58F, corner.y + height * 0.5F), height * 0.23F,
            faded(icon_color, alpha));
  list.AddText(ImVec2(corner.x + height * 1.02F, corner.y + (height - ImGui::GetFontSize()) * 0.5F),
               faded(look.theme.text, alpha), label);
  ImGui::EndDisabled();
  help_tooltip(help, look);
  return clicked;
}

namespace {

constexpr const char* save_help = "Saves configuration, weights, tokenizer and curves as a folder (safetensors, JSON).";

void draw_file_menu(Scope& scope, const Look& look) {
  if (!ImGui::BeginMenu("File")) return;
  if (ImGui::MenuItem("Open run…", "Ctrl+O")) browse(scope, Browsing::open_run);
  help_tooltip("Opens the folder of a saved run: weights, tokenizer, curves.", look);
  if (ImGui::MenuItem("Open corpus…")) browse(scope, Browsing::open_corpus);
  help_tooltip("A text file of sentence pairs: source, tab, target. Files can also be dropped on the window.", look);
  const bool run = scope.run.run != 0;
  if (ImGui::MenuItem(scope.saved_to.empty() ? "Save run…" : "Save run", "Ctrl+S", false, run)) {
    save(scope, SaveTo::same);
  }
  help_tooltip(scope.saved_to.empty() ? std::string(save_help) : "Saves again to " + scope.saved_to + ".", look);
  if (ImGui::MenuItem("Save run as…", "Ctrl+Shift+S", false, run)) save(scope, SaveTo::chosen);
  help_tooltip(save_help, look);
  ImGui::Separator();
  if (ImGui::MenuItem("Quit", "Ctrl+Q")) scope.requests.quit = true;
  ImGui::EndMenu();
}

void draw_run_menu(Scope& scope, const Look& look) {
  if (!ImGui::BeginMenu("Run")) return;
  const bool training = scope.status.activity == Activity::training;
  if (ImGui::MenuItem(training ? "Pause" : "Train", "Space", false, training || can_train(scope))) play_or_pause(scope);
  help_tooltip("Trains in the background; every view follows.", look);
  if (ImGui::MenuItem("Step", "Ctrl+→", false, can_train(scope))) step_once(scope);
  help_tooltip("One optimizer update, then pause.", look);
  if (ImGui::MenuItem("Reset", nullptr, false, can_reset(scope))) reset(scope);
  help_tooltip("New random weights under the configuration on the left.", look);
  ImGui::EndMenu();
}

void draw_export_menu(Scope& scope, const Look& look) {
  if (!ImGui::BeginMenu("Export")) return;
  draw_export_items(scope, look);
  ImGui::EndMenu();
}

void draw_theme_menu(Layout& layout) {
  if (ImGui::MenuItem("Dark theme", nullptr, layout.theme == ThemeName::dark)) layout.theme = ThemeName::dark;
  if (ImGui::MenuItem("Light theme, for projectors", nullptr, layout.theme == ThemeName::light)) {
    layout.theme = ThemeName::light;
  }
}

void draw_view_menu(Scope& scope, const Look& look) {
  if (!ImGui::BeginMenu("View")) return;
  Layout& layout = scope.layout;
  for (const WorkspaceText& text : workspaces()) {
    const std::string key = std::to_string(static_cast<int>(text.workspace) + 1);
    if (ImGui::MenuItem(text.title, key.c_str(), layout.workspace == text.workspace)) {
      layout.workspace = text.workspace;
    }
  }
  ImGui::Separator();
  if (ImGui::MenuItem("Pin the sentence", "Ctrl+P", is_pinned(scope), can_pin(scope))) toggle_pin(scope);
  help_tooltip(pin_help(scope), look);
  const std::string problem = weight_problem(scope);
  if (ImGui::MenuItem("Plot the chosen weight", nullptr, false, problem.empty())) plot_weight(scope);
  help_tooltip("How much the chosen query attends to the chosen key over training, beneath the loss. " + problem, look);
  ImGui::Separator();
  ImGui::MenuItem("Setup", nullptr, &layout.setup_open);
  ImGui::MenuItem("Curves", nullptr, &layout.curves_open);
  ImGui::Separator();
  draw_theme_menu(layout);
  ImGui::Separator();
  if (ImGui::MenuItem("Larger", "Ctrl++")) set_zoom(layout, layout.zoom * 1.1F);
  if (ImGui::MenuItem("Smaller", "Ctrl+-")) set_zoom(layout, layout.zoom / 1.1F);
  if (ImGui::MenuItem("Normal size", "Ctrl+0")) set_zoom(layout, 1);
  ImGui::Separator();
  if (ImGui::MenuItem("Presentation", "F11", scope.presentation)) set_presentation(scope, !scope.presentation);
  help_tooltip("Full screen, larger text, only the workspace and the sentence. Escape ends it.", look);
  ImGui::EndMenu();
}

std::string train_help(const Scope& scope) {
  switch (scope.status.activity) {
    case Activity::training:
      return "Pauses the training after this update (Space).";
    case Activity::finished:
      return fmt::format("All {} steps are done. Goes on training beyond them (Space).",
                         grouped(scope.run.config.training.steps));
    case Activity::preparing:
      return "The run is being prepared.";
    default:
      return "Trains the model in the background, as the setup says (paper §5). Space.";
  }
}

void draw_buttons(Scope& scope, const Look& look) {
  const bool training = scope.status.activity == Activity::training;
  if (icon_button(training ? "Pause" : "Train", training ? Icon::pause : Icon::play,
                  training ? look.theme.warning : look.theme.success, training || can_train(scope), train_help(scope),
                  look)) {
    play_or_pause(scope);
  }
  if (icon_button("Step", Icon::step, look.theme.accent, can_train(scope), "One optimizer update, then pause (Ctrl+→).",
                  look)) {
    step_once(scope);
  }
  const std::string complaint = config_complaint(scope.edited);
  if (icon_button("Reset", Icon::reset, look.theme.accent, can_reset(scope),
                  complaint.empty()
                      ? "New random weights under the configuration on the left. Corpus and tokenizer are made anew if "
                        "theirs changed. The present weights are gone unless saved."
                      : complaint,
                  look)) {
    reset(scope);
  }
}

void draw_status(const Scope& scope, const Look& look) {
  const std::string text = status_line(scope);
  const float room = ImGui::GetContentRegionAvail().x - look.px(20);
  const bool roomy = text_size(look.fonts.mono, text.c_str()).x <= room;
  const WithFont font(roomy ? look.fonts.mono : look.fonts.mono_small);
  const float width = ImGui::CalcTextSize(text.c_str()).x;
  const float x = ImGui::GetWindowWidth() - width - look.px(12);
  // Too narrow: the line stands right after the buttons and is cut off at the window's edge.
  ImGui::SetCursorPosX(std::max(x, ImGui::GetCursorPosX() + look.px(8)));
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
  const std::string complete = scope.run.name.empty() ? text : scope.run.name + ": " + text;
  help_tooltip(complete +
                   "\nstep: optimizer updates; loss: training objective in nats per target token, label "
                   "smoothing included; tok/s: source and target tokens without padding.",
               look);
}

const char* activity_text(Activity activity) {
  switch (activity) {
    case Activity::idle:
      return "ready";
    case Activity::preparing:
      return "preparing";
    case Activity::training:
      return "training";
    case Activity::paused:
      return "paused";
    case Activity::finished:
      return "finished";
  }
  return "";
}

}  // namespace

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t place = digits.size(); place > first + 3;) {
    place -= 3;
    digits.insert(place, "\u00A0");  // not broken at the end of a line
  }
  return digits;
}

std::string rounded(double number) {
  if (!std::isfinite(number)) return "–";
  if (std::abs(number) >= 999500) return fmt::format("{:.2f}M", number / 1e6);
  if (std::abs(number) >= 9995) return fmt::format("{:.0f}k", number / 1e3);
  if (std::abs(number) >= 999.5) return fmt::format("{:.1f}k", number / 1e3);
  return fmt::format("{:.0f}", number);
}

std::string status_line(const Scope& scope) {
  if (scope.run.run == 0) return scope.progress ? scope.progress->what : "no run yet";
  std::string line = fmt::format("{} · step {}", activity_text(scope.status.activity), grouped(scope.status.step));
  if (scope.loss_step >= 0) line += fmt::format(" · loss {:.2f}", scope.loss);
  if (scope.loss_step >= 0 && scope.status.activity == Activity::training) {
    line += fmt::format(" · {} tok/s", rounded(scope.tokens_per_second));
  }
  if (!scope.status.device.empty()) line += " · " + scope.status.device;
  return line;
}

void set_zoom(Layout& layout, float zoom) {
  // Rounded, so that larger and then smaller is where it was.
  layout.zoom = std::clamp(std::round(zoom * 20) / 20, min_zoom, max_zoom);
}

void set_presentation(Scope& scope, bool on) {
  if (scope.presentation == on) return;
  scope.presentation = on;
  scope.requests.fullscreen_changed = true;
}

static BrowseFor browsed_for(Browsing purpose) {
  switch (purpose) {
    case Browsing::open_run:
      return BrowseFor::run;
    case Browsing::save_run:
      return BrowseFor::save;
    case Browsing::save_png:
    case Browsing::save_svg:
    case Browsing::save_csv:
    case Browsing::save_json:
      return BrowseFor::file;
    case Browsing::save_film:
      return BrowseFor::film;
    default:
      return BrowseFor::corpus;
  }
}

void browse(Scope& scope, Browsing purpose) {
  scope.browsing = purpose;
  open_browser(scope.browser, browsed_for(purpose), "", scope.commands);
}

void save(Scope& scope, SaveTo where) {
  if (scope.run.run == 0) return;
  if (where == SaveTo::chosen || scope.saved_to.empty()) return browse(scope, Browsing::save_run);
  scope.commands.push_back(SaveRun{scope.saved_to});
}

void draw_menu_bar(Scope& scope, const Look& look) {
  if (!ImGui::BeginMenuBar()) return;
  draw_file_menu(scope, look);
  draw_run_menu(scope, look);
  draw_export_menu(scope, look);
  draw_view_menu(scope, look);
  if (ImGui::BeginMenu("Help")) {
    if (ImGui::MenuItem("Keys and mouse", "F1")) scope.show_help = true;
    ImGui::EndMenu();
  }
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + look.px(12));
  draw_buttons(scope, look);
  draw_status(scope, look);
  ImGui::EndMenuBar();
}

}  // namespace attnscope
