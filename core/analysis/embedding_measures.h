// How vectors lie to each other: neighbours, analogies, distances, how apart groups are, and frames laid over each
// other.
#pragma once

#include <span>
#include <vector>

#include "plain/embeddings.h"
#include "plain/matrix.h"

namespace attnscope {

// ‖x‖ of every row.
std::vector<float> row_norms(const Matrix& vectors);

// The rows whose cosine with `query` (as many numbers as the rows have) is the largest, the largest first, equal ones
// by id; those that are left out, and rows of no length or that are no numbers, are passed over. `norms` are row_norms.
std::vector<Neighbour> nearest(const Matrix& vectors, std::span<const float> norms, std::span<const float> query,
                               std::span<const int> left_out, int count);

// b − a + c
std::vector<float> analogy_vector(const Matrix& vectors, int a, int b, int c);

// Place of `id` among all rows by cosine, from 1; the others as in `nearest`. 0: it is left out.
int rank_of(const Matrix& vectors, std::span<const float> norms, std::span<const float> query,
            std::span<const int> left_out, int id);

// ‖x/‖x‖ − y/‖y‖‖ = √(2 − 2 cos) of every pair of these rows: √2 when they are orthogonal, as one-hot vectors are.
Matrix unit_distances(const Matrix& vectors, std::span<const int> ids);

// The mean silhouette (Rousseeuw 1987) of rows in groups, from −1 to 1: (b − a) / max(a, b) of each, where a is its
// mean distance to the others of its group and b that to the nearest other group. A row alone in its group counts 0; so
// does everything when there is one group only. group: one number a row; below 0: the row is passed over.
double mean_silhouette(const Matrix& vectors, std::span<const int> group);

// The orthogonal K×K matrix R (a rotation, perhaps with a reflection) for which ‖a − b·R‖ is the smallest; both N×K,
// a row a point (orthogonal Procrustes). Rows that are no numbers are passed over.
Matrix procrustes(const Matrix& a, const Matrix& b);

}  // namespace attnscope
