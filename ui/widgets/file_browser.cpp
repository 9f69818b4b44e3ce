#include "widgets/file_browser.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <utility>

#include "base/input.h"
#include "base/translation.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;  // used only for path arithmetic: no disk access here

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

void go_to(FileBrowser& browser, std::string path, std::vector<Command>& commands) {
  browser.waiting = true;
  browser.entered = false;
  browser.selected = -1;
  browser.filter.clear();
  commands.push_back(ListDirectory{.path = std::move(path)});
}

std::string path_of(const FileBrowser& browser, const std::string& name) {
  return (fs::path(browser.listing.path) / name).string();
}

void draw_breadcrumbs(FileBrowser& browser, std::vector<Command>& commands) {
  fs::path so_far;
  int index = 0;
  for (const fs::path& part : fs::path(browser.listing.path)) {
    so_far /= part;
    const std::string text = part.string();
    if (index > 0) next_in_row(button_width(text.c_str()), ImGui::GetStyle().ItemInnerSpacing.x);
    ImGui::PushID(index++);
    if (small_text_button(text)) go_to(browser, so_far.string(), commands);
    ImGui::PopID();
  }
}

// The folder that is listed is itself a run, a comparison or a checkpoint.
bool lists_a_run(const FileBrowser& browser) {
  return browser.choice->runs && !browser.choice->thing &&
         std::ranges::any_of(browser.listing.entries, [](const DirectoryEntry& entry) {
           return entry.name == "config.json" || entry.name == "comparison.json";
         });
}

// Text that is typed while no field has the keyboard goes into this one, which gets it.
void take_typed(std::string& text) {
  ImVector<ImWchar>& typed = ImGui::GetIO().InputQueueCharacters;
  for (const ImWchar sign : typed) {
    char bytes[5] = "";
    ImTextCharToUtf8(bytes, sign);
    text += bytes;
  }
  typed.resize(0);
  focus_next_item();
}

// Dear ImGui selects the text of a field that gets the keyboard.
int put_caret_at_end(ImGuiInputTextCallbackData* data) {
  if (!std::exchange(*static_cast<bool*>(data->UserData), false)) return 0;
  data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;
  return 0;
}

void draw_path_entry(FileBrowser& browser, std::vector<Command>& commands, const Skin& skin) {
  using TypingInto = FileBrowser::TypingInto;
  const ImGuiIO& io = ImGui::GetIO();
  if (!browser.choice->thing && !io.WantTextInput && browser.typing == TypingInto::none &&
      !io.InputQueueCharacters.empty() && io.InputQueueCharacters[0] > ' ') {
    browser.typing = io.InputQueueCharacters[0] == '/' ? TypingInto::path : TypingInto::filter;
    (browser.typing == TypingInto::path ? browser.path_text : browser.filter).clear();
    browser.caret_to_end = true;
  }
  constexpr ImGuiInputTextFlags flags = ImGuiInputTextFlags_CallbackAlways;
  const float filter_width = skin.px(150);
  ImGui::SetNextItemWidth(-filter_width - ImGui::GetStyle().ItemSpacing.x);
  if (browser.typing == TypingInto::path) take_typed(browser.path_text);
  if (ImGui::InputTextWithHint("##path", tr("a folder's path"), &browser.path_text,
                               flags | ImGuiInputTextFlags_EnterReturnsTrue, put_caret_at_end, &browser.caret_to_end)) {
    go_to(browser, browser.path_text, commands);
    browser.entered = browser.choice->thing == nullptr;
  }
  if (ImGui::IsItemActive()) browser.typing = TypingInto::none;
  ImGui::SameLine();
  ImGui::SetNextItemWidth(-1);
  if (browser.typing == TypingInto::filter) take_typed(browser.filter);
  ImGui::InputTextWithHint("##filter", tr("filter"), &browser.filter, flags, put_caret_at_end, &browser.caret_to_end);
  if (ImGui::IsItemActive()) browser.typing = TypingInto::none;
}

// Action requested on a row of the list.
enum class RowDeed { nothing, select, open };

RowDeed draw_row(const DirectoryEntry& entry, bool selected, bool take_focus, const Skin& skin) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const std::string label = entry.is_directory ? entry.name + "/" : entry.name;
  const bool pressed =
      selectable_text(label, selected, ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick);
  if (take_focus) ImGui::SetFocusID(ImGui::GetItemID(), ImGui::GetCurrentWindow());
  // Dear ImGui 1.86 activates items only with Space.
  const bool entered = ImGui::IsItemFocused() && key_pressed(Key::enter);
  // A row activated without the mouse was activated with Enter or Space, which open it like a double-click.
  const bool by_mouse = ImGui::IsMouseClicked(ImGuiMouseButton_Left) || ImGui::IsMouseReleased(ImGuiMouseButton_Left);
  const bool opened = entered || (pressed && (!by_mouse || ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)));
  ImGui::TableNextColumn();
  if (entry.is_run) {
    colored_text(skin.theme.accent, tr("run"));
  } else if (!entry.is_directory) {
    ImGui::TextDisabled("%s", size_text(entry.size).c_str());
  }
  return opened ? RowDeed::open : pressed ? RowDeed::select : RowDeed::nothing;
}

bool is_fitting_file(const FileChoice& choice, const DirectoryEntry& entry) {
  if (entry.is_directory) return false;
  return choice.extension ? entry.name.ends_with(choice.extension) : choice.files;
}

std::optional<std::string> open_entry(FileBrowser& browser, const DirectoryEntry& entry,
                                      std::vector<Command>& commands) {
  const std::string path = path_of(browser, entry.name);
  const FileChoice& choice = *browser.choice;
  if (entry.is_directory && (choice.thing || !choice.runs || !entry.is_run)) {
    go_to(browser, path, commands);
    return std::nullopt;
  }
  if (entry.is_directory || !choice.thing) return path;
  return std::nullopt;
}

// Returns whether the item to create may replace the entry.
bool can_take_name(const FileChoice& choice, const DirectoryEntry& entry) {
  return choice.files ? !entry.is_directory : choice.runs && entry.is_run;
}

std::optional<std::string> draw_list(FileBrowser& browser, ImVec2 size, std::vector<Command>& commands,
                                     const Skin& skin) {
  std::optional<std::string> chosen;
  int opened = -1;
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersOuter;
  if (!ImGui::BeginTable("entries", 2, flags, size)) return chosen;
  ImGui::TableSetupColumn(tr("name"), ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn(tr("size"), ImGuiTableColumnFlags_WidthFixed, skin.px(80));
  const std::string wanted = lower(browser.filter);
  const bool is_run = lists_a_run(browser);  // its files are no captures
  // Not in the first frame: Dear ImGui is about to focus the dialog's first button then.
  bool take_focus = browser.take_focus && !browser.choice->thing && !ImGui::IsWindowAppearing();
  int shown = 0;
  for (std::size_t i = 0; i < browser.listing.entries.size(); ++i) {
    const DirectoryEntry& entry = browser.listing.entries[i];
    if (!entry.is_directory && (!is_fitting_file(*browser.choice, entry) || is_run)) continue;
    if (lower(entry.name).find(wanted) == std::string::npos) continue;
    if (entry.name.starts_with('.') && !wanted.starts_with('.')) continue;  // hidden unless requested
    ++shown;
    ImGui::PushID(static_cast<int>(i));
    const RowDeed deed = draw_row(entry, browser.selected == static_cast<int>(i), take_focus, skin);
    if (take_focus) take_focus = browser.take_focus = false;
    ImGui::PopID();
    if (deed == RowDeed::nothing) continue;
    browser.selected = static_cast<int>(i);
    if (can_take_name(*browser.choice, entry)) browser.name = entry.name;
    if (deed == RowDeed::open) opened = static_cast<int>(i);
  }
  if (shown == 0 && !browser.waiting) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextDisabled("%s", wanted.empty() ? tr("nothing here") : tr("nothing matches the filter"));
  }
  ImGui::EndTable();
  // After the list, because opening an entry may replace the listing.
  if (opened >= 0) chosen = open_entry(browser, browser.listing.entries[static_cast<std::size_t>(opened)], commands);
  return chosen;
}

const DirectoryEntry* entry_named(const FileBrowser& browser, const std::string& name) {
  const auto& entries = browser.listing.entries;
  const auto found = std::ranges::find(entries, name, &DirectoryEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

// Returns why the present name cannot be used; empty if it can.
std::string name_problem(const FileBrowser& browser) {
  if (browser.name.empty()) return trf("enter a name for the {}", tr(browser.choice->thing));
  if (browser.name.find('/') != std::string::npos) return tr("press Enter to save under this path");
  if (browser.name == "." || browser.name == "..") return tr("a name must not be . or ..");
  const DirectoryEntry* entry = entry_named(browser, browser.name);
  if (!entry) return "";
  if (browser.choice->files) return entry->is_directory ? trf("\u201C{}\u201D is a folder", browser.name) : "";
  if (browser.choice->runs)
    return entry->is_run ? "" : trf("\u201C{}\u201D already exists and is not a run", browser.name);
  return entry->is_directory ? "" : trf("\u201C{}\u201D already exists and is not a folder", browser.name);
}

// Returns true if Enter was pressed in the field.
bool draw_name_entry(FileBrowser& browser, const Skin& skin) {
  // An arriving listing does not take the focus while the user is typing.
  if (std::exchange(browser.take_focus, false) && !ImGui::GetIO().WantTextInput) focus_next_item();
  ImGui::SetNextItemWidth(-1);
  const std::string hint = trf("name of the {}", tr(browser.choice->thing));
  const bool entered =
      ImGui::InputTextWithHint("##name", hint.c_str(), &browser.name, ImGuiInputTextFlags_EnterReturnsTrue);
  const std::string problem = name_problem(browser);
  const bool replaces = problem.empty() && entry_named(browser, browser.name);
  if (replaces)
    colored_text(skin.theme.warning, browser.choice->runs
                                         ? tr("This run already exists and will be replaced.")
                                         : tr("This name already exists; you will be asked before it is replaced."));
  else
    dim_text(problem.empty() ? tr(browser.choice->advice) : problem, skin);
  return entered;
}

// The path that the accept button would choose.
std::optional<std::string> acceptable(const FileBrowser& browser) {
  if (browser.waiting || browser.listing.path.empty() || !browser.listing.error.empty()) return std::nullopt;
  if (browser.choice->thing) {
    if (!name_problem(browser).empty()) return std::nullopt;
    return path_of(browser, browser.name);
  }
  if (browser.selected < 0) {
    if (browser.choice->runs) return browser.listing.path;  // the current folder
    return std::nullopt;
  }
  const DirectoryEntry& entry = browser.listing.entries[static_cast<std::size_t>(browser.selected)];
  const bool fits = (browser.choice->runs && entry.is_run) || is_fitting_file(*browser.choice, entry);
  return fits ? std::optional(path_of(browser, entry.name)) : std::nullopt;
}

// A path was entered instead of a name.
void go_to_named_folder(FileBrowser& browser, std::vector<Command>& commands) {
  const fs::path path = fs::path(browser.listing.path) / browser.name;  // an absolute name replaces the folder
  browser.name = path.filename().string();
  go_to(browser, path.parent_path().string(), commands);
  browser.entered = !browser.name.empty();
}

// Enter is remembered until the listing arrives, but nothing is replaced without a warning first.
std::optional<std::string> draw_naming(FileBrowser& browser, std::vector<Command>& commands, const Skin& skin) {
  const bool kept = !browser.waiting && std::exchange(browser.entered, false);
  if (!browser.choice->thing) {
    wrapped_text(skin.theme.text_dim, tr(browser.choice->advice));
    // The path of a file or a run was entered.
    return kept && (browser.selected >= 0 || lists_a_run(browser)) ? acceptable(browser) : std::nullopt;
  }
  const bool entered = draw_name_entry(browser, skin);
  if (entered && browser.name.find('/') != std::string::npos) {
    go_to_named_folder(browser, commands);
    return std::nullopt;
  }
  if (entered && browser.waiting) browser.entered = true;
  if (entered || (kept && !entry_named(browser, browser.name))) return acceptable(browser);
  return std::nullopt;
}

std::optional<std::string> draw_buttons(FileBrowser& browser, const Skin& skin) {
  std::optional<std::string> chosen;
  const std::optional<std::string> candidate = acceptable(browser);
  ImGui::BeginDisabled(!candidate);
  if (ImGui::Button(tr_label(browser.choice->accept), {skin.px(110), 0})) chosen = candidate;
  ImGui::EndDisabled();
  if (!candidate) help_tooltip(tr("Select an entry in the list first, or enter a name."), skin);
  ImGui::SameLine();
  if (ImGui::Button(tr_label("Cancel"), {skin.px(110), 0})) browser.open = false;
  return chosen;
}

std::optional<std::string> draw_offers(const FileBrowser& browser, const Skin& skin) {
  std::optional<std::string> chosen;
  if (browser.offers.empty()) return chosen;
  dim_text(tr("Recent"), skin);
  for (std::size_t i = 0; i < browser.offers.size(); ++i) {
    const PathOffer& offer = browser.offers[i];
    next_in_row(button_width(offer.label.c_str()), ImGui::GetStyle().ItemInnerSpacing.x);
    ImGui::PushID(static_cast<int>(i));
    if (small_text_button(offer.label)) chosen = offer.path;
    ImGui::PopID();
    help_tooltip(offer.help, skin);
  }
  ImGui::Separator();
  return chosen;
}

std::optional<std::string> draw_contents(FileBrowser& browser, std::vector<Command>& commands, const Skin& skin) {
  ImGui::PushID("Suggestions");
  std::optional<std::string> chosen = draw_offers(browser, skin);
  ImGui::PopID();
  if (browser.listing.path.empty())
    ImGui::TextDisabled("%s", tr("Reading the folder\u2026"));
  else
    draw_breadcrumbs(browser, commands);
  draw_path_entry(browser, commands, skin);
  if (!browser.listing.error.empty()) wrapped_text(skin.theme.error, browser.listing.error);
  const float spacing = ImGui::GetStyle().ItemSpacing.y;
  const float naming =
      browser.choice->thing
          ? ImGui::GetFrameHeightWithSpacing() + ImGui::GetTextLineHeightWithSpacing()
          : ImGui::CalcTextSize(tr(browser.choice->advice), nullptr, false, ImGui::GetContentRegionAvail().x).y +
                spacing;
  const float beneath = ImGui::GetFrameHeightWithSpacing() + naming;
  if (const auto listed = draw_list(browser, {0, -beneath}, commands, skin)) chosen = listed;
  if (const auto named = draw_naming(browser, commands, skin)) chosen = named;
  if (const auto accepted = draw_buttons(browser, skin)) chosen = accepted;
  if (!ImGui::GetIO().WantTextInput && key_pressed(Key::backspace) && !browser.listing.path.empty())
    go_to(browser, fs::path(browser.listing.path).parent_path().string(), commands);
  return chosen;
}

}  // namespace

void open_browser(FileBrowser& browser, const FileChoice& choice, const std::string& start,
                  std::vector<Command>& commands) {
  browser.choice = &choice;
  browser.open = true;
  browser.just_opened = true;
  browser.entered = false;
  browser.take_focus = choice.thing != nullptr;  // text typed before the listing arrives goes into the name
  go_to(browser, start.empty() ? browser.listing.path : start, commands);
}

void receive(FileBrowser& browser, const DirectoryListed& listing) {
  browser.waiting = false;
  browser.selected = -1;
  browser.take_focus = true;
  if (!listing.error.empty()) {  // stay in the current folder and show the error
    browser.listing.error = listing.error;
    if (browser.listing.path.empty()) browser.listing.path = listing.path;
    return;
  }
  browser.listing = listing;
  // The path of a file was entered: its folder is listed.
  const std::string file = fs::path(browser.path_text).filename().string();
  const auto named = std::ranges::find(listing.entries, file, &DirectoryEntry::name);
  const bool fits = named != listing.entries.end() && browser.choice && is_fitting_file(*browser.choice, *named);
  if (fits && fs::path(browser.path_text).parent_path() == fs::path(listing.path)) {
    browser.selected = static_cast<int>(named - listing.entries.begin());
    browser.take_focus = false;
  }
  browser.path_text = listing.path;
}

std::optional<std::string> draw_browser(FileBrowser& browser, std::vector<Command>& commands, const Skin& skin) {
  if (!browser.open) return std::nullopt;
  const std::string title = fmt::format("{}###browser", tr(browser.choice->title));
  if (browser.just_opened) {
    ImGui::OpenPopup("###browser");
    browser.just_opened = false;
  }
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos({screen.x / 2, screen.y / 2}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSize({std::min(skin.px(680), screen.x * 0.95F), std::min(skin.px(480), screen.y * 0.95F)});
  std::optional<std::string> chosen;
  constexpr ImGuiWindowFlags flags =
      ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoScrollbar;
  if (!ImGui::BeginPopupModal(title.c_str(), &browser.open, flags)) return chosen;
  chosen = draw_contents(browser, commands, skin);
  if (!ImGui::GetIO().WantTextInput && key_pressed(Key::escape)) browser.open = false;
  if (chosen) browser.open = false;
  if (!browser.open) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
  return chosen;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  constexpr std::array<const char*, 4> units{mark("kB"), mark("MB"), mark("GB"), mark("TB")};
  double size = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (size >= 999.5 && unit + 1 < units.size()) {
    size /= 1000;
    ++unit;
  }
  return size < 9.95 ? fmt::format("{:.1f} {}", size, units[unit]) : fmt::format("{:.0f} {}", size, units[unit]);
}

}  // namespace attnscope
