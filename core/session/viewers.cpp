#include "session/viewers.h"

#include <utility>

namespace attnscope {

void Viewers::ask(ViewerQuestion question) {
  Viewer& viewer = viewers_[question.viewer];
  viewer.id = question.viewer;
  viewer.gone = !question.probe;
  viewer.asked = std::move(question.probe);
}

void Viewers::remove_gone() {
  std::erase_if(viewers_, [](const auto& entry) { return entry.second.gone; });
}

}  // namespace attnscope
