#include "base/input.h"

#include <imgui_internal.h>

#include <iterator>
#include <string>

#include "base/translation.h"

namespace attnscope {
namespace {

// Dear ImGui's code for a key. Before 1.87 it names only the editing keys and uses the backend's (GLFW's) numbers for
// the others.
struct KeyRow {
  Key key;
  const char* name;  // display name
  int glfw;
  int imgui;
};

#if IMGUI_VERSION_NUM >= 18700
#define ATTNSCOPE_LATER_KEY(name) ImGuiKey_##name
#define ATTNSCOPE_KEYPAD_ENTER ImGuiKey_KeypadEnter
#else
#define ATTNSCOPE_LATER_KEY(name) -1
#define ATTNSCOPE_KEYPAD_ENTER ImGuiKey_KeyPadEnter
#endif

constexpr KeyRow keys[] = {
    {Key::tab, "Tab", 258, ImGuiKey_Tab},
    {Key::left, "←", 263, ImGuiKey_LeftArrow},
    {Key::right, "→", 262, ImGuiKey_RightArrow},
    {Key::up, "↑", 265, ImGuiKey_UpArrow},
    {Key::down, "↓", 264, ImGuiKey_DownArrow},
    {Key::page_up, mark("Page up"), 266, ImGuiKey_PageUp},
    {Key::page_down, mark("Page down"), 267, ImGuiKey_PageDown},
    {Key::home, mark("Home"), 268, ImGuiKey_Home},
    {Key::end, mark("End"), 269, ImGuiKey_End},
    {Key::insert, mark("Insert"), 260, ImGuiKey_Insert},
    {Key::del, mark("Delete"), 261, ImGuiKey_Delete},
    {Key::backspace, mark("Backspace"), 259, ImGuiKey_Backspace},
    {Key::space, mark("Space"), 32, ImGuiKey_Space},
    {Key::enter, mark("Enter"), 257, ImGuiKey_Enter},
    {Key::escape, mark("Escape"), 256, ImGuiKey_Escape},
    {Key::keypad_enter, mark("Enter"), 335, ATTNSCOPE_KEYPAD_ENTER},
    {Key::a, "A", 65, ImGuiKey_A},
    {Key::c, "C", 67, ImGuiKey_C},
    {Key::v, "V", 86, ImGuiKey_V},
    {Key::x, "X", 88, ImGuiKey_X},
    {Key::y, "Y", 89, ImGuiKey_Y},
    {Key::z, "Z", 90, ImGuiKey_Z},
    {Key::o, "O", 79, ATTNSCOPE_LATER_KEY(O)},
    {Key::s, "S", 83, ATTNSCOPE_LATER_KEY(S)},
    {Key::q, "Q", 81, ATTNSCOPE_LATER_KEY(Q)},
    {Key::t, "T", 84, ATTNSCOPE_LATER_KEY(T)},
    {Key::e, "E", 69, ATTNSCOPE_LATER_KEY(E)},
    {Key::p, "P", 80, ATTNSCOPE_LATER_KEY(P)},
    {Key::d, "D", 68, ATTNSCOPE_LATER_KEY(D)},
    {Key::digit_0, "0", 48, ATTNSCOPE_LATER_KEY(0)},
    {Key::digit_1, "1", 49, ATTNSCOPE_LATER_KEY(1)},
    {Key::digit_2, "2", 50, ATTNSCOPE_LATER_KEY(2)},
    {Key::digit_3, "3", 51, ATTNSCOPE_LATER_KEY(3)},
    {Key::digit_4, "4", 52, ATTNSCOPE_LATER_KEY(4)},
    {Key::digit_5, "5", 53, ATTNSCOPE_LATER_KEY(5)},
    {Key::digit_6, "6", 54, ATTNSCOPE_LATER_KEY(6)},
    {Key::plus, "+", 61, ATTNSCOPE_LATER_KEY(Equal)},
    {Key::minus, "-", 45, ATTNSCOPE_LATER_KEY(Minus)},
    {Key::f1, "F1", 290, ATTNSCOPE_LATER_KEY(F1)},
    {Key::f6, "F6", 295, ATTNSCOPE_LATER_KEY(F6)},
    {Key::f10, "F10", 299, ATTNSCOPE_LATER_KEY(F10)},
    {Key::f11, "F11", 300, ATTNSCOPE_LATER_KEY(F11)},
};
static_assert(std::size(keys) == static_cast<std::size_t>(Key::count));

#undef ATTNSCOPE_LATER_KEY
#undef ATTNSCOPE_KEYPAD_ENTER

const KeyRow& row(Key key) {
  return keys[static_cast<std::size_t>(key)];
}

}  // namespace

Modifiers modifiers() {
  const ImGuiIO& io = ImGui::GetIO();
  return {.ctrl = io.KeyCtrl, .shift = io.KeyShift, .alt = io.KeyAlt};
}

bool pressed(const Chord& chord) {
  const Modifiers held = modifiers();
  const bool shift = chord.shift == held.shift || chord.key == Key::plus;  // many keyboards have + above =
  return shift && chord.ctrl == held.ctrl && !held.alt && key_pressed(chord.key, chord.repeats);
}

std::string chord_text(const Chord& chord) {
  return std::string(chord.ctrl ? tr("Ctrl+") : "") + (chord.shift ? tr("Shift+") : "") + tr(row(chord.key).name);
}

#if IMGUI_VERSION_NUM >= 18700

bool key_pressed(Key key, bool repeat) {
  const auto pressed = [&](int code) { return ImGui::IsKeyPressed(static_cast<ImGuiKey>(code), repeat); };
  if (key == Key::plus && pressed(ImGuiKey_KeypadAdd)) return true;
  if (key == Key::minus && pressed(ImGuiKey_KeypadSubtract)) return true;
  return pressed(row(key).imgui);
}

void prepare_input(ImGuiIO&) {}
void feed_key(ImGuiIO& io, Key key, bool down) {
  io.AddKeyEvent(static_cast<ImGuiKey>(row(key).imgui), down);
}
void feed_modifiers(ImGuiIO& io, Modifiers held) {
#if IMGUI_VERSION_NUM >= 18910
  io.AddKeyEvent(ImGuiMod_Ctrl, held.ctrl);
  io.AddKeyEvent(ImGuiMod_Shift, held.shift);
  io.AddKeyEvent(ImGuiMod_Alt, held.alt);
#else
  io.AddKeyEvent(ImGuiKey_ModCtrl, held.ctrl);
  io.AddKeyEvent(ImGuiKey_ModShift, held.shift);
  io.AddKeyEvent(ImGuiKey_ModAlt, held.alt);
#endif
}
void feed_mouse(ImGuiIO& io, ImVec2 position) {
  io.AddMousePosEvent(position.x, position.y);
}
void feed_button(ImGuiIO& io, int button, bool down) {
  io.AddMouseButtonEvent(button, down);
}
void feed_wheel(ImGuiIO& io, float lines) {
  io.AddMouseWheelEvent(0, lines);
}

#else

bool key_pressed(Key key, bool repeat) {
  constexpr int keypad_subtract = 333;
  constexpr int keypad_add = 334;
  if (key == Key::plus && ImGui::IsKeyPressed(keypad_add, repeat)) return true;
  if (key == Key::minus && ImGui::IsKeyPressed(keypad_subtract, repeat)) return true;
  return ImGui::IsKeyPressed(row(key).glfw, repeat);
}

void prepare_input(ImGuiIO& io) {
  for (const KeyRow& key : keys)
    if (key.imgui >= 0) io.KeyMap[key.imgui] = key.glfw;
}
void feed_key(ImGuiIO& io, Key key, bool down) {
  io.KeysDown[row(key).glfw] = down;
}
void feed_modifiers(ImGuiIO& io, Modifiers held) {
  io.KeyCtrl = held.ctrl;
  io.KeyShift = held.shift;
  io.KeyAlt = held.alt;
}
void feed_mouse(ImGuiIO& io, ImVec2 position) {
  io.MousePos = position;
}
void feed_button(ImGuiIO& io, int button, bool down) {
  io.MouseDown[button] = down;
}
void feed_wheel(ImGuiIO& io, float lines) {
  io.MouseWheel = lines;
}

#endif

namespace {
bool moving_through_controls = false;
}  // namespace

bool moves_through_controls() {
  return moving_through_controls;
}

void move_through_controls(bool on) {
  moving_through_controls = on;
}

namespace {

bool focus_is_visible() {
#if IMGUI_VERSION_NUM >= 19140
  return GImGui->NavCursorVisible;
#else
  return !GImGui->NavDisableHighlight;
#endif
}

void show_focus(bool visible) {
#if IMGUI_VERSION_NUM >= 19140
  GImGui->NavCursorVisible = visible;
#else
  GImGui->NavDisableHighlight = !visible;
#endif
}

}  // namespace

void keep_keys_from_controls() {
  ImGui::ClearActiveID();
  ImGui::NavMoveRequestCancel();
  show_focus(false);
}

void focus_next_item() {
  ImGui::SetWindowFocus();
  ImGui::SetKeyboardFocusHere();
}

void settle_menu_keys() {
  ImGuiContext& g = *GImGui;
#if IMGUI_VERSION_NUM < 18900
  if (g.NavActivateInputId != 0) g.NavActivateId = g.NavActivateDownId = g.NavActivatePressedId = g.NavActivateInputId;
#endif
  const bool in_popup = g.NavWindow != nullptr && (g.NavWindow->RootWindow->Flags & ImGuiWindowFlags_Popup) != 0;
  if (!in_popup || g.NavId == 0 || !g.NavMoveSubmitted || focus_is_visible()) return;
  ImGui::NavMoveRequestCancel();
  show_focus(true);
}

int column_flags() {
  return moving_through_controls ? ImGuiWindowFlags_NavFlattened : 0;
}

int view_flags() {
  return moving_through_controls ? column_flags() : ImGuiWindowFlags_NoNavInputs;
}

WordSelection::WordSelection() : before_(ImGui::GetIO().ConfigMacOSXBehaviors) {
#if IMGUI_VERSION_NUM < 18800
  // For this frame only: other shortcuts would behave as on a Mac, too.
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) ImGui::GetIO().ConfigMacOSXBehaviors = true;
#endif
}

WordSelection::~WordSelection() {
  ImGui::GetIO().ConfigMacOSXBehaviors = before_;
}

void feed_text(ImGuiIO& io, std::string_view text) {
  io.AddInputCharactersUTF8(std::string(text).c_str());
}

}  // namespace attnscope
