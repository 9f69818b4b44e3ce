// Taking pictures and numbers away: to the clipboard, or to files that the worker writes.
#pragma once

#include <optional>
#include <string>

#include "shell/app_state.h"

namespace attnscope {

// ---- what can be taken now, and is then ordered; `replace`: what is at the path

bool can_take_picture(const AppState& scope);
void order_png(AppState& scope, const std::string& path, bool replace);
void order_svg(AppState& scope, const std::string& path, bool replace);
void order_handout(AppState& scope, const std::string& path, bool replace);
void copy_workspace(AppState& scope);  // as a picture, into the clipboard

// The weights of the selected head, or what is drawn in its place.
bool has_numbers(const AppState& scope);
std::string numbers_name(const AppState& scope);
void write_csv(AppState& scope, const std::string& path, bool replace);
void write_json(AppState& scope, const std::string& path, bool replace);
void copy_numbers(AppState& scope);

// The recorded steps of the sentence, as numbered pictures in a folder.
bool can_film(const AppState& scope);
void order_film(AppState& scope, const std::string& folder, bool replace);
void stop_film(AppState& scope);

// An order was carried out, or could not be.
void receive(AppState& scope, const FileWritten& written);
void picture_copied(AppState& scope, const std::string& error);  // empty: it was

// ---- for whoever draws the frames

// The picture that the frame to be drawn now is to become, with the workspace made ready for it.
std::optional<PictureOrder> next_picture(AppState& scope);

// It has been drawn: has it written, or copied.
void deliver(AppState& scope, const PictureOrder& order, std::string bytes);

}  // namespace attnscope
