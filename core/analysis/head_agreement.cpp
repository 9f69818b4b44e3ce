#include "analysis/head_agreement.h"

#include "analysis/rank_correlation.h"

namespace attnscope {

double agreement(const HeadsResult& inspection) {
  std::vector<double> exact, fast;
  for (const HeadImportance& head : inspection.heads) {
    exact.push_back(head.exact);
    fast.push_back(head.fast);
  }
  return rank_correlation(exact, fast);
}

}  // namespace attnscope
