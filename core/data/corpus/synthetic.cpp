#include "data/corpus/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <unordered_set>

#include "data/corpus/random.h"

namespace attnscope {
namespace {

constexpr std::size_t num_drafts = 20000;

// Separates the characters with spaces, so that each is a token and attention between them is visible.
std::string spaced(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (!result.empty()) result += ' ';
    result += c;
  }
  return result;
}

std::string random_letters(Random& random, std::size_t length) {
  std::string letters;
  while (letters.size() < length) letters += static_cast<char>('a' + random.below(26));
  return letters;
}

std::string random_letters(Random& random) {
  return random_letters(random, 3 + random.below(10));
}

// Calls `make` until it has given enough drafts with different sources.
template <typename Make>
std::vector<Draft> distinct_drafts(std::int64_t seed, Make make) {
  Random random(seed);
  std::vector<Draft> drafts;
  std::unordered_set<std::string> sources;
  while (drafts.size() < num_drafts) {
    Draft draft = make(random);
    if (sources.insert(draft.pair.source).second) drafts.push_back(std::move(draft));
  }
  return drafts;
}

Draft draft_of(std::string source, std::string target, std::string key) {
  return {.pair = {.source = std::move(source), .target = std::move(target)}, .key = std::move(key)};
}

Pair sum_of(std::size_t a, std::size_t b) {
  return {.source = fmt::format("{} + {}", spaced(std::to_string(a)), spaced(std::to_string(b))),
          .target = spaced(std::to_string(a + b))};
}

// A number with this many digits, without leading zeros.
std::size_t random_number(Random& random, std::int64_t digits) {
  std::size_t number = 1 + random.below(9);
  for (std::int64_t i = 1; i < digits; ++i) number = 10 * number + random.below(10);
  return number;
}

constexpr std::array<std::string_view, 12> months = {"January",   "February", "March",    "April",
                                                     "May",       "June",     "July",     "August",
                                                     "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> weekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                      "Thursday", "Friday", "Saturday"};

std::string ordinal(unsigned day) {
  const bool teen = day >= 11 && day <= 13;
  const unsigned last = teen ? 0 : day % 10;
  return fmt::format("{}{}", day, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

constexpr std::array date_formats = {"{day} {month} {year}",           "{month} {day}, {year}",
                                     "the {nth} of {month} {year}",    "{weekday}, {day} {month} {year}",
                                     "{day} {short} {year}",           "{short} {nth}, {year}",
                                     "{day:02}/{number:02}/{year}",    "{day}.{number}.{year}",
                                     "{weekday} {month} {day}, {year}"};

std::string written_date(std::chrono::year_month_day date, const char* format) {
  const unsigned day = static_cast<unsigned>(date.day());
  const unsigned number = static_cast<unsigned>(date.month());
  const std::string_view month = months[number - 1];
  const std::string_view weekday = weekdays[std::chrono::weekday(std::chrono::sys_days(date)).c_encoding()];
  return fmt::format(fmt::runtime(format), fmt::arg("day", day), fmt::arg("nth", ordinal(day)),
                     fmt::arg("month", month), fmt::arg("short", month.substr(0, 3)), fmt::arg("number", number),
                     fmt::arg("year", static_cast<int>(date.year())), fmt::arg("weekday", weekday));
}

}  // namespace

std::vector<Draft> copy_drafts(std::int64_t seed) {
  return distinct_drafts(seed, [](Random& random) {
    const std::string text = spaced(random_letters(random));
    return draft_of(text, text, text);
  });
}

std::vector<Draft> reverse_drafts(std::int64_t seed) {
  return distinct_drafts(seed, [](Random& random) {
    const std::string letters = random_letters(random);
    return draft_of(spaced(letters), spaced(std::string(letters.rbegin(), letters.rend())), letters);
  });
}

std::vector<Draft> sort_drafts(std::int64_t seed) {
  return distinct_drafts(seed, [](Random& random) {
    const std::string letters = random_letters(random);
    std::string sorted = letters;
    std::sort(sorted.begin(), sorted.end());
    return draft_of(spaced(letters), spaced(sorted), sorted);  // two orders of the same letters stay in one part
  });
}

std::vector<Draft> addition_drafts(std::int64_t seed) {
  constexpr std::array<std::size_t, 3> bounds = {10, 100, 1000};
  return distinct_drafts(seed, [&](Random& random) {
    const std::size_t a = random.below(bounds[random.below(bounds.size())]);
    const std::size_t b = random.below(bounds[random.below(bounds.size())]);
    return Draft{.pair = sum_of(a, b), .key = fmt::format("{}+{}", std::min(a, b), std::max(a, b))};
  });
}

std::vector<Draft> date_drafts(std::int64_t seed) {
  using namespace std::chrono;
  const sys_days first = year(1900) / January / 1;
  const std::size_t num_days = static_cast<std::size_t>((sys_days(year(2100) / January / 1) - first).count());
  return distinct_drafts(seed, [&](Random& random) {
    const year_month_day date(first + days(random.below(num_days)));
    const std::string iso = fmt::format("{}-{:02}-{:02}", static_cast<int>(date.year()),
                                        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
    return draft_of(written_date(date, date_formats[random.below(date_formats.size())]), iso, iso);
  });
}

std::vector<Pair> pairs_of_length(std::string_view corpus, std::int64_t words, std::int64_t count, std::int64_t seed) {
  constexpr std::int64_t most_digits = 18;  // that fit in 64 bits
  Random random(seed + words);
  std::vector<Pair> pairs;
  for (std::int64_t i = 0; i < count && words > 0; ++i) {
    if (corpus == "addition") {
      const std::int64_t digits = words - 1, first = digits / 2;
      if (digits < 2 || digits - first > most_digits) break;
      pairs.push_back(sum_of(random_number(random, first), random_number(random, digits - first)));
      continue;
    }
    const std::string letters = random_letters(random, static_cast<std::size_t>(words));
    std::string answer = letters;
    if (corpus == "reverse") std::reverse(answer.begin(), answer.end());
    if (corpus == "sort") std::sort(answer.begin(), answer.end());
    if (corpus != "copy" && corpus != "reverse" && corpus != "sort") break;
    pairs.push_back({.source = spaced(letters), .target = spaced(answer)});
  }
  return pairs;
}

}  // namespace attnscope
