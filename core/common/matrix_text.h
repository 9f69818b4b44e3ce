// Matrices as text for other programs.
#pragma once

#include <span>
#include <string>

#include "common/matrix.h"

namespace attnscope {

// Returns the label of a row or column; without labels its number, counted from `first`.
std::string label_of(std::span<const std::string> labels, int index, int first);

// Quotes the field as RFC 4180 requires.
std::string csv_field(const std::string& text);

// A header of column labels after an empty field, then one line per row: label and values, with enough digits to
// round-trip. Fields are quoted as in RFC 4180; lines end with \n. Without labels: numbers from 0.
std::string matrix_csv(const Matrix& matrix, std::span<const std::string> row_labels,
                       std::span<const std::string> col_labels);

// {"rows": [label…], "cols": [label…], "values": [[number…]…]}. Non-finite numbers become null; invalid UTF-8 in labels
// becomes U+FFFD.
std::string matrix_json(const Matrix& matrix, std::span<const std::string> row_labels,
                        std::span<const std::string> col_labels);

}  // namespace attnscope
