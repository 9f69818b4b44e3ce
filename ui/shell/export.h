// Taking pictures and numbers away: to the clipboard, or to files that the worker writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/look.h"
#include "plain/history.h"
#include "plain/messages.h"
#include "widgets/capture.h"

namespace attnscope {

struct Scope;

enum class ExportKind { png, svg, csv, json, film };

struct PictureOrder {
  ExportKind kind = ExportKind::png;  // or svg
  std::string path;
  bool replace = false;  // what is there
  bool whole_window = false;
};

// A film on its way into a folder, a frame of the timeline at a time.
struct FilmOrder {
  std::string folder;
  bool replace = false;
  std::vector<Frame> frames;
  std::size_t drawn = 0;
  std::size_t written = 0;  // of those drawn
};

// A path that was chosen, where something is already.
struct ReplaceQuestion {
  ExportKind kind = ExportKind::png;
  std::string path;
};

struct Exports {
  PictureArea area;                     // of the workspace, in the last frame
  std::optional<PictureOrder> picture;  // to be taken of the next frame
  std::optional<FilmOrder> film;
  std::optional<ReplaceQuestion> question;
  bool menu_asked = false;  // to be opened as a popup
  bool taking = false;      // this frame is a picture: nothing lies over the workspace
};

bool can_export(const Scope& scope, ExportKind kind);

// Asks where to.
void choose_export(Scope& scope, ExportKind kind);

// A path was chosen: gives the order, or asks first if something is there.
void export_to(Scope& scope, ExportKind kind, const std::string& path);

// The selected head's weights, as comma-separated values.
void copy_numbers(Scope& scope);

void draw_export_items(Scope& scope, const Look& look);    // of a menu
void draw_export_dialogs(Scope& scope, const Look& look);  // the menu as a popup, the question

void stop_film(Scope& scope);

// An order was carried out, or could not be.
void receive(Scope& scope, const FileWritten& written);

// ---- for whoever draws the frames

// The picture that the frame to be drawn now is to become, with the workspace made ready for it.
std::optional<PictureOrder> next_picture(Scope& scope);

// It has been drawn: has it written.
void deliver(Scope& scope, const PictureOrder& order, std::string bytes);

}  // namespace attnscope
