// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace attnscope {

// "12 345 678" and "9.1k": whole numbers for reading, rates for glancing.
std::string grouped(std::int64_t number);
std::string rounded(double number);

}  // namespace attnscope
