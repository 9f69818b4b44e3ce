// The whole window, drawn offscreen and compared with a picture that was looked at. After a change that is meant to be
// seen: ATTNSCOPE_UPDATE_GOLDEN=1 build/tests/screenshot_test, look at tests/data/window.png, commit it.
#include <ft2build.h>
#include FT_FREETYPE_H
#include <gtest/gtest.h>
#include <imgui.h>
#include <stb_image.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "circuit_fixture.h"
#include "embeddings_fixture.h"
#include "files/captures/capture_engine.h"
#include "files/storage/file.h"
#include "shell/app_state.h"
#include "shell/captures.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "window/font_files.h"
#include "window/offscreen.h"
#include "workspaces/attention/view.h"
#include "workspaces/circuit/view.h"
#include "workspaces/mechanisms/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

constexpr int width = 1280;
constexpr int height = 720;
// Mesa's releases round colours and edges a little differently.
constexpr double largest_mean_difference = 0.5;  // of 255
constexpr int visible_difference = 32;           // of 255, in one channel
constexpr double largest_share_off = 0.002;      // of all pixels

const std::filesystem::path golden_file = std::filesystem::path(ATTNSCOPE_TEST_DATA) / "window.png";
const std::filesystem::path made_with_file = std::filesystem::path(ATTNSCOPE_TEST_DATA) / "window.made_with";

// Scores of four heads, and the circuits of the last one.
InductionResult fixture_induction() {
  const HeadPlace last{AttentionPart::decoder, 1, 1};
  InductionResult result{.question = {.over_training = true, .circuits_of = last}, .sequences = 16, .length = 63};
  for (const std::int64_t step : {400}) {
    InductionPoint& point = result.points.emplace_back(InductionPoint{.step = step, .accuracy = 0.9, .nll = 0.3});
    for (int head = 0; head < 4; ++head)
      point.heads.push_back({.place = {AttentionPart::decoder, head / 2, head % 2},
                             .previous = head < 2 ? 0.3 : 0.1,
                             .induction = head < 2 ? 0.05 : 0.4,
                             .first = 0.2,
                             .copying = head < 2 ? -0.2 : 0.4});
  }
  TokenCircuits& circuits = result.circuits.emplace();
  circuits.place = last;
  circuits.positive = 1;
  for (int i = 0; i < 6; ++i) circuits.tokens.push_back(std::string(1, static_cast<char>('a' + i)));
  circuits.qk = circuits.ov = Matrix(6, 6);
  for (int i = 0; i < 6; ++i) circuits.ov.at(i, i) = 1;
  return result;
}

AppState animal_scope() {
  AppState scope;
  scope.facts.version = "golden";
  scope.facts.corpora = {{"english-french", "a small grammar"}, {"copy", "the source again"}};
  receive(scope, {fixture_run(400), Status{Activity::paused, 400, "CPU, 2 threads"}}, nullptr);
  const auto snapshot = animal_snapshot(scope.asked.request);
  snapshot->embeddings = fixture_embeddings(1500);
  receive(scope, {}, snapshot);
  CircuitView& circuit = scope.views.of<CircuitView>();
  take_circuit(circuit, fixture_result(snapshot->source_text), scope.a.run.run, 400);
  circuit.counting_asked = true;
  take_mechanism(scope.views.of<MechanismsView>(), fixture_induction(), scope.a.run.run, 400);
  scope.commands.clear();
  scope.toasts.clear();
  return scope;
}

// Versions of everything that determines the shapes of letters.
std::string made_with() {
  FT_Library library = nullptr;
  FT_Init_FreeType(&library);
  int major = 0;
  int minor = 0;
  int patch = 0;
  FT_Library_Version(library, &major, &minor, &patch);
  FT_Done_FreeType(library);
  const FontFiles fonts = find_pinned_fonts();
  return "Dear ImGui " + std::string(ImGui::GetVersion()) + ", FreeType " + std::to_string(major) + "." +
         std::to_string(minor) + "." + std::to_string(patch) + ", DejaVu of " + std::to_string(fonts.ui.size()) +
         " and " + std::to_string(fonts.mono.size()) + " bytes\n";
}

Picture picture_from_png(const std::string& bytes) {
  Picture picture;
  int channels = 0;
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()),
                            &picture.width, &picture.height, &channels, 4),
      stbi_image_free);
  if (pixels)
    picture.rgba.assign(pixels.get(), pixels.get() + static_cast<std::size_t>(picture.width) * picture.height * 4);
  return picture;
}

struct Difference {
  double mean = 0;       // of all channels
  double share_off = 0;  // pixels that differ visibly
};

Difference compare(const Picture& a, const Picture& b) {
  std::int64_t sum = 0;
  std::int64_t off = 0;
  for (std::size_t pixel = 0; pixel < a.rgba.size(); pixel += 4) {
    int largest = 0;
    for (std::size_t channel = pixel; channel < pixel + 3; ++channel) {
      const int difference = std::abs(a.rgba[channel] - b.rgba[channel]);
      sum += difference;
      largest = std::max(largest, difference);
    }
    if (largest > visible_difference) ++off;
  }
  const double pixels = static_cast<double>(a.rgba.size()) / 4;
  return {static_cast<double>(sum) / (pixels * 3), static_cast<double>(off) / pixels};
}

TEST(Screenshot, LooksAsItDid) {
  AppState scope = animal_scope();
  const std::string png = png_bytes(draw_offscreen(scope, width, height, 1));
  if (std::getenv("ATTNSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(golden_file.parent_path());
    write_file(golden_file, png);
    write_file(made_with_file, made_with());
    GTEST_SKIP() << "wrote " << golden_file;
  }
  const std::string recorded = read_file(made_with_file, 1000);
  if (recorded != made_with()) {
    GTEST_SKIP() << "the picture was made with " << recorded << "here is " << made_with();
  }
  const Picture golden = picture_from_png(read_file(golden_file, 1 << 24));
  const Picture actual = picture_from_png(png);
  ASSERT_EQ(golden.width, actual.width);
  ASSERT_EQ(golden.height, actual.height);
  const Difference difference = compare(golden, actual);
  if (difference.mean > largest_mean_difference || difference.share_off > largest_share_off) {
    const std::filesystem::path actual_file = std::filesystem::absolute("window-actual.png");
    write_file(actual_file, png);
    ADD_FAILURE() << "mean difference " << difference.mean << " of 255, " << 100 * difference.share_off
                  << " % of the pixels visibly off; drawn now: " << actual_file << ", expected: " << golden_file;
  }
}

TEST(Screenshot, IsTheSameEveryTime) {
  AppState first = animal_scope();
  AppState second = animal_scope();
  EXPECT_EQ(draw_offscreen(first, 800, 500, 1).rgba, draw_offscreen(second, 800, 500, 1).rgba);
}

// The lower part of the workspace's picture: below the choice of views, some of which need the model.
std::vector<std::uint8_t> maps_of_picture(AppState& scope) {
  const Picture picture = draw_offscreen(scope, width, height, 1);
  const PictureArea& area = scope.exports.area;
  const auto left = static_cast<std::size_t>(area.low.x), right = static_cast<std::size_t>(area.high.x);
  std::vector<std::uint8_t> pixels;
  for (auto y = static_cast<std::size_t>(area.low.y) + 30; y < static_cast<std::size_t>(area.high.y); ++y) {
    const auto line = picture.rgba.begin() + static_cast<std::ptrdiff_t>(y * width * 4);
    pixels.insert(pixels.end(), line + static_cast<std::ptrdiff_t>(left * 4),
                  line + static_cast<std::ptrdiff_t>(right * 4));
  }
  return pixels;
}

TEST(Screenshot, ASavedCaptureShowsTheSamePixels) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("capture_pixels." + std::to_string(::getpid()) + ".safetensors");
  for (const AttentionLevel level : {AttentionLevel::model, AttentionLevel::head}) {
    AppState run = animal_scope(), reopened;
    for (AppState* scope : {&run, &reopened}) {
      scope->layout.workspace = find_workspace("attention");
      scope->views.of<AttentionView>().level = level;
      scope->layout.curves_open = false;  // a capture without losses has no curves, so its maps have the same room
    }
    save_capture(run, file.string(), true);
    ASSERT_FALSE(run.commands.empty());
    write_file(file, std::get<WriteFile>(run.commands.back()).bytes);
    CaptureEngine engine(99);
    receive(reopened, {engine.open_model(file.string())}, nullptr);
    engine.probe(reopened.asked, [&](auto snapshot) { receive(reopened, {}, std::move(snapshot)); }, {});
    reopened.toasts.clear();
    const std::vector<std::uint8_t> saved = maps_of_picture(run), read = maps_of_picture(reopened);
    EXPECT_GT(std::set<std::uint8_t>(saved.begin(), saved.end()).size(), 50U) << "something is drawn";
    EXPECT_TRUE(saved == read) << "level " << static_cast<int>(level);
  }
  std::filesystem::remove(file);
}

TEST(Screenshot, ShowsEveryWorkspaceInBothThemes) {
  std::set<std::string> pictures;
  for (const Workspace& workspace : workspaces()) {
    for (const ThemeName theme : {ThemeName::dark, ThemeName::light}) {
      AppState scope = animal_scope();
      scope.layout.workspace = &workspace;
      scope.layout.theme = theme;
      pictures.insert(png_bytes(draw_offscreen(scope, 960, 600, 1)));
    }
  }
  EXPECT_EQ(pictures.size(), 2 * workspaces().size());
}

TEST(Screenshot, FollowsTheScale) {
  AppState small = animal_scope();
  AppState large = animal_scope();
  const Picture picture = draw_offscreen(large, 1600, 1000, 2);
  EXPECT_EQ(picture.width, 1600);
  EXPECT_EQ(picture.height, 1000);
  EXPECT_GT(compare(picture, draw_offscreen(small, 1600, 1000, 1)).share_off, 0.02);
}

// Rendered by rsvg-convert; empty if it cannot.
Picture rendered(const std::string& svg) {
  const std::filesystem::path stem =
      std::filesystem::path(testing::TempDir()) / ("attnscope_window_" + std::to_string(::getpid()));
  const std::string svg_file = stem.string() + ".svg";
  const std::string png_file = stem.string() + ".png";
  write_file(svg_file, svg);
  const std::string command = "rsvg-convert -o '" + png_file + "' '" + svg_file + "'";
  const bool drawn = std::system(command.c_str()) == 0;
  Picture picture;
  if (drawn) picture = picture_from_png(read_file(png_file, 1 << 26));
  std::filesystem::remove(svg_file);
  std::filesystem::remove(png_file);
  return picture;
}

// Letters are drawn with other edges, and other fonts where those of the window are not installed; everything else
// agrees to a pixel.
TEST(Screenshot, AVectorPictureShowsWhatThePixelsShow) {
  if (std::system("command -v rsvg-convert >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "rsvg-convert (Debian: librsvg2-bin) is not installed";
  }
  for (const Workspace& workspace : workspaces()) {
    AppState pixels = animal_scope();
    AppState shapes = animal_scope();
    pixels.layout.workspace = shapes.layout.workspace = &workspace;
    const Picture expected = draw_offscreen(pixels, width, height, 1);
    const Picture actual =
        rendered(draw_offscreen_as(shapes, {.vector = true, .whole_window = true}, width, height, 1));
    ASSERT_EQ(actual.width, expected.width) << workspace.name;
    ASSERT_EQ(actual.height, expected.height) << workspace.name;
    const Difference difference = compare(expected, actual);
    EXPECT_LT(difference.mean, 4) << workspace.name;
    EXPECT_LT(difference.share_off, 0.05) << workspace.name;
    // A blank picture would be closer to it than that.
    Picture nothing = expected;
    for (std::size_t i = 0; i < nothing.rgba.size(); ++i) nothing.rgba[i] = expected.rgba[i % 4];
    EXPECT_GT(compare(expected, nothing).share_off, 1.5 * difference.share_off) << workspace.name;
  }
}

TEST(Screenshot, APictureOfTheWorkspaceIsThatPartOfTheWindow) {
  AppState scope = animal_scope();
  AppState again = animal_scope();
  scope.a.complete = again.a.complete = {};  // without a caption, which would move all beneath it
  draw_offscreen(scope, width, height, 1);
  const PictureArea area = scope.exports.area;
  const Picture whole = draw_offscreen(again, width, height, 1);
  scope.exports.picture = PictureOrder{.path = "x.png"};
  draw_offscreen(scope, width, height, 1);
  ASSERT_EQ(scope.commands.size(), 1U);
  const auto& file = std::get<WriteFile>(scope.commands[0]);
  EXPECT_EQ(file.path, "x.png");
  const Picture part = picture_from_png(file.bytes);
  ASSERT_EQ(part.width, static_cast<int>(area.high.x) - static_cast<int>(area.low.x));
  ASSERT_EQ(part.height, static_cast<int>(area.high.y) - static_cast<int>(area.low.y));
  std::int64_t off = 0;
  for (int y = 0; y < part.height; ++y) {
    for (int x = 0; x < part.width; ++x) {
      const auto there =
          static_cast<std::size_t>((y + static_cast<int>(area.low.y)) * width + x + static_cast<int>(area.low.x)) * 4;
      const auto here = static_cast<std::size_t>(y * part.width + x) * 4;
      off += std::abs(part.rgba[here] - whole.rgba[there]) > visible_difference;
    }
  }
  // The first frame of a window is taken here, which settles a little later.
  EXPECT_LT(static_cast<double>(off) / (part.width * part.height), 0.05);
}

TEST(Screenshot, PngHoldsThePicture) {
  Picture picture{2, 1, {10, 20, 30, 255, 250, 240, 230, 255}};
  EXPECT_EQ(picture_from_png(png_bytes(picture)).rgba, picture.rgba);
}

}  // namespace
}  // namespace attnscope
