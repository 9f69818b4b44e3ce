// Dear ImGui without a window: frames are drawn at a fixed pace, mouse, keys and text are injected, and what was drawn
// can be read back.
#pragma once

#include <imgui.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input.h"
#include "base/skin.h"
#include "base/textures.h"

namespace attnscope {

// Stands in for the GPU: keeps what was filled and counts how often.
class CountingTextures : public TextureStore {
 public:
  struct Picture {
    std::uint64_t version = 0;
    int width = 0;
    int height = 0;
    std::vector<std::uint32_t> rgba;
  };

  TexturePart texture(std::uint64_t key, std::uint64_t version, int width, int height, Sharing sharing,
                      const Fill& fill) override;
  void end_frame() override {}

  int uploads = 0;
  std::map<std::uint64_t, Picture> pictures;
};

class UiHarness {
 public:
  using Draw = std::function<void()>;

  explicit UiHarness(ImVec2 size = {1280, 720}, ThemeName theme_name = ThemeName::dark, float scale = 1);
  ~UiHarness();
  UiHarness(const UiHarness&) = delete;
  UiHarness& operator=(const UiHarness&) = delete;

  // Whole frames: `draw` opens its own windows.
  void frame(const Draw& draw);
  void frames(int count, const Draw& draw);

  // Draws one frame, with `draw` inside a borderless window that fills the screen.
  void panel(const Draw& draw);

  // The following take the frames they need, drawn by `draw` (whole frames).
  void move(ImVec2 position, const Draw& draw);
  void click(ImVec2 position, const Draw& draw, int button = 0);
  void double_click(ImVec2 position, const Draw& draw);
  void drag(ImVec2 from, ImVec2 to, const Draw& draw);
  void wheel(ImVec2 position, float lines, const Draw& draw, Modifiers held = {});
  void key(Key key, const Draw& draw, Modifiers held = {});
  void type(std::string_view text, const Draw& draw);

  // Clicks in the middle of that text; false if it is not on the screen.
  bool click_text(std::string_view text, const Draw& draw);

  // Middle of that text as drawn in the last frame (spaces do not count); `nth` when it stands there more than once.
  std::optional<ImVec2> find_text(std::string_view text, int nth = 0) const;
  bool drew(std::string_view text) const { return find_text(text).has_value(); }

  // All glyphs of the last frame, in the order drawn, without spaces.
  std::string drawn_text() const;

  // For every color of the last frame, how many vertices have it and their mean position; and the pictures' contents.
  std::string drawn_shapes() const;

  int vertices() const;

  // True if a shape of that color covers the position; text does not count.
  bool filled(ImVec2 position, Color32 color) const;

  // Wraps a panel's draw function so that it can be given to move, click and so on.
  Draw in_panel(Draw draw) const;

  Skin skin;
  CountingTextures textures;
  ImGuiIO& io() const { return ImGui::GetIO(); }

 private:
  struct Glyph {
    std::string text;
    ImVec2 low, high;
  };
  void read_glyphs();
  void forget_click(const Draw& draw);  // waits until another click would not make a double-click of it

  ImGuiContext* context_;
  std::map<std::pair<float, float>, unsigned> glyph_at_;  // top left texture coordinates → code point
  std::vector<Glyph> glyphs_;                             // of the last frame
};

}  // namespace attnscope
