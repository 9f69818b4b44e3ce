#include "workspaces/decoding/decoding.h"

#include <algorithm>
#include <array>

#include "widgets/choice_row.h"
#include "widgets/heatmap.h"
#include "workspaces/decoding/controls.h"
#include "workspaces/decoding/forcing.h"
#include "workspaces/decoding/readings.h"
#include "workspaces/decoding/steps.h"
#include "workspaces/decoding/tree.h"

namespace attnscope {
namespace {

struct ModeText {
  DecodingMode mode;
  std::string_view name;  // on the command line
  const char* title;
  const char* help;
};

constexpr std::array modes = {
    ModeText{DecodingMode::steps, "steps", "Step by step", "The output grows a piece at a time (paper §3.1)."},
    ModeText{DecodingMode::tree, "tree", "Beam tree", "Every hypothesis of the beam search and where it was pruned."},
    ModeText{DecodingMode::readings, "readings", "Side by side", "Greedy, beam and samples on the same sentence."},
    ModeText{DecodingMode::forcing, "forcing", "Teacher forcing",
             "What the decoder thinks of the reference, beside what it writes by itself."},
};

void draw_modes(DecodingView& view, const Look& look) {
  for (const ModeText& text : modes) {
    if (draw_choice(text.title, view.mode == text.mode, text.help, look)) view.mode = text.mode;
  }
  draw_options_button(view, look);
}

void draw_mode(const Shown& shown, DecodingView& view, TextureStore& textures, const Look& look) {
  // Recorded frames hold the greedy decoding alone.
  if (view.mode != DecodingMode::steps && is_recorded(*shown.snapshot))
    return draw_quiet_note(recorded_note, ImGui::GetContentRegionAvail(), look);
  switch (view.mode) {
    case DecodingMode::steps:
      return draw_steps(shown, view, textures, look);
    case DecodingMode::tree:
      return draw_tree(shown, view, textures, look);
    case DecodingMode::readings:
      return draw_readings(shown, view, textures, look);
    case DecodingMode::forcing:
      return draw_forcing(shown, view, textures, look);
  }
}

}  // namespace

std::optional<DecodingMode> mode_from(std::string_view name) {
  const auto found = std::ranges::find(modes, name, &ModeText::name);
  return found == modes.end() ? std::nullopt : std::optional(found->mode);
}

std::vector<std::string> mode_names() {
  std::vector<std::string> names;
  for (const ModeText& text : modes) names.emplace_back(text.name);
  return names;
}

void draw_decoding(const Shown& shown, DecodingView& view, std::string& reference, TextureStore& textures,
                   const Look& look) {
  note_branch(view.branches, shown, view.prefix.empty() ? 0 : view.typing);
  draw_modes(view, look);
  draw_beginning_and_reference(*shown.snapshot, view, reference, look);
  ImGui::BeginChild("mode", ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  draw_mode(shown, view, textures, look);
  ImGui::EndChild();
}

}  // namespace attnscope
