// Geometry of vectors: neighbors, analogies, distances, separation of groups, and alignment of two sets.
#pragma once

#include <span>
#include <vector>

#include "common/matrix.h"
#include "messages/embeddings.h"

namespace attnscope {

// ‖x‖ of every row.
std::vector<float> row_norms(const Matrix& vectors);

// Returns the rows with the largest cosine with `query` (of the rows' width), largest first, ties by id. Skips the
// excluded rows, and rows that are zero or not finite. `norms` are row_norms.
std::vector<Neighbour> nearest(const Matrix& vectors, std::span<const float> norms, std::span<const float> query,
                               std::span<const int> left_out, int count);

// b − a + c
std::vector<float> analogy_vector(const Matrix& vectors, int a, int b, int c);

// The rank of `id` among all rows by cosine, from 1; other rows as in `nearest`. 0: it is excluded.
int rank_of(const Matrix& vectors, std::span<const float> norms, std::span<const float> query,
            std::span<const int> left_out, int id);

// ‖x/‖x‖ − y/‖y‖‖ = √(2 − 2 cos) for every pair of these rows: √2 if orthogonal, like one-hot vectors.
Matrix unit_distances(const Matrix& vectors, std::span<const int> ids);

// The mean silhouette (Rousseeuw 1987) of grouped rows, from −1 to 1: (b − a) / max(a, b) per row. a is its mean
// distance to the others of its group and b that to the nearest other group. A row that is alone in its group counts 0,
// as does everything if there is only one group. group: one number per row; negative: the row is skipped.
double mean_silhouette(const Matrix& vectors, std::span<const int> group);

// Returns the orthogonal K×K matrix R (a rotation, possibly with a reflection) that minimizes ‖a − b·R‖; both N×K, one
// row per point (orthogonal Procrustes). Skips rows that are not finite.
Matrix procrustes(const Matrix& a, const Matrix& b);

}  // namespace attnscope
