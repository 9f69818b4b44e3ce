// Help → Manual: the pages that are installed with the program, one per task.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/skin.h"
#include "manual/markdown.h"

namespace attnscope {

struct ManualPage {
  std::string name;  // the file's, without ".md"
  std::vector<MarkdownBlock> blocks;

  std::string title() const;  // its first heading
};

ManualPage make_page(std::string name, std::string_view markdown);

struct ManualView {
  bool open = false;
  std::size_t page = 0;
  std::string anchor;     // the heading to scroll to in the next frame
  bool restarts = false;  // scrolls to the top in the next frame
};

// Shows the target of a link: "train.md", "train.md#heading" or "#heading" of the page shown. False: there is no such
// page.
bool follow_link(ManualView& view, const std::vector<ManualPage>& pages, std::string_view link);

void draw_manual(ManualView& view, const std::vector<ManualPage>& pages, const Skin& skin);

}  // namespace attnscope
