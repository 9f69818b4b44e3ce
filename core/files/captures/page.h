// Interactive pages: one HTML file that shows a capture in a browser and contains it. Script and style are in
// assets/page; the file that the build makes of them, page.html, has places for the facts and the capture.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/captures/capture.h"
#include "messages/circuit.h"

namespace attnscope {

inline constexpr std::string_view page_extension = ".html";
inline constexpr std::size_t most_page_bytes = std::size_t{32} << 20;  // of attention: a browser decodes it in a second

struct PageLanguage {
  std::string code = "en";
  std::function<std::string(const char*)> translated = [](const char* english) { return std::string(english); };
};

// About the run, for CaptureFacts. `made_by` is the command that made the page, or the window.
std::vector<Label> page_labels(const std::string& name, const ModelConfig& model, std::int64_t parameters,
                               const std::string& made_by);

// The sentences with at least one frame. Of their steps every second one is left out until the attention fits in
// most_page_bytes; throws Error if the last steps alone do not. `left_out` gets the number of steps left out.
std::vector<PinnedSentence> thinned_for_page(std::vector<PinnedSentence> sentences, std::size_t& left_out);

// Enough losses to draw the curve, and those at the recorded steps.
Series losses_for_page(const Series& losses, std::span<const PinnedSentence> sentences);

// The circuit as JSON, for CaptureFacts; empty if there is none.
std::string page_circuit(const ContrastFacts& facts, const Circuit& circuit);

// `page` is the file page.html.
std::string page_html(std::string_view page, std::string_view capture, const PageLanguage& language);

// The bytes of the capture that a page contains. Throws FileError, and SafetensorsError if it contains none.
std::string capture_in_page(const std::filesystem::path& file);

}  // namespace attnscope
