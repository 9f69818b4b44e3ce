// Export of pictures and numbers to the clipboard, or to files that the worker writes.
#pragma once

#include <optional>
#include <string>

#include "shell/app_state.h"

namespace attnscope {

// ---- availability and orders; `replace`: overwrite the existing file

bool can_take_picture(const AppState& scope);
void order_png(AppState& scope, const std::string& path, bool replace);
void order_svg(AppState& scope, const std::string& path, bool replace);
void order_handout(AppState& scope, const std::string& path, bool replace);
void copy_workspace(AppState& scope);  // copies a picture to the clipboard

// The weights of the selected head, or what is drawn in its place.
bool has_numbers(const AppState& scope);
std::string numbers_name(const AppState& scope);
void write_csv(AppState& scope, const std::string& path, bool replace);
void write_curves(AppState& scope, const std::string& path, bool replace);
void write_json(AppState& scope, const std::string& path, bool replace);
void copy_numbers(AppState& scope);

// The recorded steps of the sentence, as numbered pictures in a folder.
bool can_film(const AppState& scope);
void order_film(AppState& scope, const std::string& folder, bool replace);
void stop_film(AppState& scope);

// Handles the result of an order: written, or failed.
// A report of the saved run, and of the one that it is compared with. Another process writes it.
bool can_report(const AppState& scope);
std::string report_name(const AppState& scope);
void order_report(AppState& scope, const std::string& folder, bool replace);

void receive(AppState& scope, const FileWritten& written);
void picture_copied(AppState& scope, const std::string& error);  // `complaint` empty: success

// ---- for the code that draws the frames

// Returns the order that the coming frame is to fulfill, after preparing the workspace for it.
std::optional<PictureOrder> next_picture(AppState& scope);

// Call after the frame was drawn: writes or copies the picture.
void deliver(AppState& scope, const PictureOrder& order, std::string bytes);

}  // namespace attnscope
