#include "common/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace attnscope {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table [bytes of a][bytes of b]: the current one and the two before it.
  std::vector<std::size_t> row(b.size() + 1), before(b.size() + 1), two_before(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_before, before);
    std::swap(before, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace attnscope
