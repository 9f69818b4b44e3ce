#include "workspaces/workspace.h"

namespace attnscope {

std::string keys_text(std::span<const WorkspaceKey> keys, std::string_view title) {
  std::string text;
  for (const WorkspaceKey& key : keys)
    if (key.title == title) text += (text.empty() ? "" : ", ") + chord_text(key.chord);
  return text;
}

}  // namespace attnscope
