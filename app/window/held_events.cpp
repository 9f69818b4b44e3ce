#include "window/held_events.h"

#include <imgui_internal.h>

#include <utility>
#include <vector>

#include "window/input_queue.h"

namespace attnscope {

#if IMGUI_VERSION_NUM >= 18700

namespace {

#if IMGUI_VERSION_NUM >= 18910
constexpr int ctrl = ImGuiMod_Ctrl, alt = ImGuiMod_Alt, super = ImGuiMod_Super;
#else
constexpr int ctrl = ImGuiKey_ModCtrl, alt = ImGuiKey_ModAlt, super = ImGuiKey_ModSuper;
#endif

bool is_modifier_or_unnamed(int key) {
  return key < ImGuiKey_NamedKey_BEGIN || key >= ImGuiKey_NamedKey_END ||
         (key >= ImGuiKey_LeftCtrl && key <= ImGuiKey_RightSuper) || key == ctrl || key == alt || key == super;
}

bool leaves_field(int key) {
  return key == ImGuiKey_Escape || key == ImGuiKey_Enter || key == ImGuiKey_Tab || key == ImGuiKey_KeypadEnter;
}

}  // namespace

struct HeldEvents::Queue {
  explicit Queue(ImGuiContext& of) : context(of) {
    for (const auto& [type, callback] : {std::pair{ImGuiContextHookType_NewFramePre, &Queue::hold},
                                         std::pair{ImGuiContextHookType_NewFramePost, &Queue::give_back}}) {
      ImGuiContextHook hook;
      hook.Type = type;
      hook.Callback = callback;
      hook.UserData = this;
      ImGui::AddContextHook(&context, &hook);
    }
  }
  ~Queue() {
    for (ImGuiContextHook& hook : context.Hooks)
      if (hook.UserData == this) ImGui::RemoveContextHook(&context, hook.HookId);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // The number of events up to the first key that moves the focus; all if there is none.
  int count_until_focus_moves() {
    const ImGuiIO& io = context.IO;
    bool ctrl_held = io.KeyCtrl, alt_held = io.KeyAlt, super_held = io.KeySuper;
    const ImVector<ImGuiInputEvent>& events = context.InputEventsQueue;
    for (int i = 0; i < events.Size; ++i) {
      if (events[i].Type != ImGuiInputEventType_Key) continue;
      const int key = events[i].Key.Key;
      const bool down = events[i].Key.Down;
      if (key == ctrl) ctrl_held = down;
      if (key == alt) alt_held = down;
      if (key == super) super_held = down;
      moves_focus = down && !is_modifier_or_unnamed(key) && (ctrl_held || alt_held || super_held || leaves_field(key));
      if (moves_focus) return i + 1;
    }
    return events.Size;
  }

  static void hold(ImGuiContext*, ImGuiContextHook* hook) {
    Queue& queue = *static_cast<Queue*>(hook->UserData);
    ImVector<ImGuiInputEvent>& events = queue.context.InputEventsQueue;
    queue.moves_focus = false;
    const int taken = queue.settling > 0 ? 0 : queue.count_until_focus_moves();
    queue.held.assign(events.begin() + taken, events.end());
    events.resize(taken);
  }

  // Dear ImGui drops repeated events by comparing with its queue, so they may be missing there only within NewFrame.
  static void give_back(ImGuiContext*, ImGuiContextHook* hook) {
    Queue& queue = *static_cast<Queue*>(hook->UserData);
    ImVector<ImGuiInputEvent>& events = queue.context.InputEventsQueue;
    if (queue.settling > 0) --queue.settling;
    if (queue.moves_focus && events.empty()) queue.settling = frames_to_settle - 1;
    for (const ImGuiInputEvent& event : queue.held) events.push_back(event);
  }

  ImGuiContext& context;
  std::vector<ImGuiInputEvent> held;  // during NewFrame
  bool moves_focus = false;           // the last event of this frame
  int settling = 0;                   // frames until the focus has moved
};

HeldEvents::HeldEvents() : queue_(std::make_unique<Queue>(*ImGui::GetCurrentContext())) {}

bool HeldEvents::empty() const {
  return queue_->context.InputEventsQueue.empty();
}

#else

struct HeldEvents::Queue {};

HeldEvents::HeldEvents() = default;

bool HeldEvents::empty() const {
  return true;
}

#endif

HeldEvents::~HeldEvents() = default;

}  // namespace attnscope
