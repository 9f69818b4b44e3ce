// Taking pictures and numbers away: to the clipboard, or to files that the worker writes.
#pragma once

#include <optional>
#include <string>

#include "shell/scope.h"

namespace attnscope {

// ---- what can be taken now, and is then ordered; `replace`: what is at the path

bool can_take_picture(const Scope& scope);
void order_png(Scope& scope, const std::string& path, bool replace);
void order_svg(Scope& scope, const std::string& path, bool replace);
void order_handout(Scope& scope, const std::string& path, bool replace);
void copy_workspace(Scope& scope);  // as a picture, into the clipboard

// The weights of the selected head, or what is drawn in its place.
bool has_numbers(const Scope& scope);
std::string numbers_name(const Scope& scope);
void write_csv(Scope& scope, const std::string& path, bool replace);
void write_json(Scope& scope, const std::string& path, bool replace);
void copy_numbers(Scope& scope);

// The recorded steps of the sentence, as numbered pictures in a folder.
bool can_film(const Scope& scope);
void order_film(Scope& scope, const std::string& folder, bool replace);
void stop_film(Scope& scope);

// An order was carried out, or could not be.
void receive(Scope& scope, const FileWritten& written);
void picture_copied(Scope& scope, const std::string& error);  // empty: it was

// ---- for whoever draws the frames

// The picture that the frame to be drawn now is to become, with the workspace made ready for it.
std::optional<PictureOrder> next_picture(Scope& scope);

// It has been drawn: has it written, or copied.
void deliver(Scope& scope, const PictureOrder& order, std::string bytes);

}  // namespace attnscope
