// Writing a lesson: a template to start from, and a preview that follows the file.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

struct AppState;
struct FileRead;

// A lesson in every part, with comments.
std::string lesson_template(const std::string& name);

// Shows the lesson in the file and reads it again whenever it is saved.
void preview_lesson(AppState& scope, const std::string& path);

// Asks for the file again once a second; call once per frame.
void follow_lesson_file(AppState& scope, double now);

inline constexpr std::string_view lesson_extension = ".lesson";
bool is_lesson(const AppState& scope, const FileRead& read);
void receive_lesson(AppState& scope, const FileRead& read);

}  // namespace attnscope
