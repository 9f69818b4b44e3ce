// A matrix as text that other programs read.
#pragma once

#include <span>
#include <string>

#include "plain/matrix.h"

namespace attnscope {

// A row's or column's label, or without any its number, counted from `first`.
std::string label_of(std::span<const std::string> labels, int index, int first);

// As RFC 4180 has it: quoted where it must be.
std::string csv_field(const std::string& text);

// A header of column labels behind an empty field, then a line a row: its label and its values, with as many digits as
// read back as the same number. Fields are quoted as RFC 4180 has it; lines end with \n. No labels: numbers from 0.
std::string matrix_csv(const Matrix& matrix, std::span<const std::string> row_labels,
                       std::span<const std::string> col_labels);

// {"rows": [label…], "cols": [label…], "values": [[number…]…]}. What is no number is null; bytes of labels that are no
// UTF-8 become U+FFFD.
std::string matrix_json(const Matrix& matrix, std::span<const std::string> row_labels,
                        std::span<const std::string> col_labels);

}  // namespace attnscope
