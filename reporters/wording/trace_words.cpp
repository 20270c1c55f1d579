#include "reporters/wording/trace_words.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/measure/format.hpp"

namespace memsweep::reporters {
namespace {

std::uint64_t number_in(const trace::Facts& facts, const char* name)
{
    const auto fact = facts.find(name);
    return fact == facts.end() ? 0 : base::parse_number(fact->second).value_or(0);
}

}  // namespace

std::vector<std::string> gaps_of(const trace::Facts& facts)
{
    std::vector<std::string> gaps;
    if (const std::uint64_t sample = number_in(facts, "sample"); sample > 1) {
        gaps.push_back(fmt::format("only one block of {} is in this trace (record --sample): the program held and "
                                   "allocated about {} times as much",
                                   sample, sample));
    }
    if (const std::uint64_t from = number_in(facts, "min_size"); from > 0) {
        gaps.push_back(fmt::format("blocks below {} are not in this trace (record --min-size)",
                                   base::format_size(static_cast<double>(from))));
    }
    if (const std::uint64_t lost = number_in(facts, "lost_events"); lost > 0) {
        gaps.push_back(fmt::format("{} could not be recorded", measure::counted(lost, "event")));
    }
    if (const std::uint64_t programs = number_in(facts, "unrecorded"); programs > 0) {
        gaps.push_back(fmt::format("{} ran without the recorder, and what {} allocated is not in this trace",
                                   measure::counted(programs, "program"), programs == 1 ? "it" : "they"));
    }
    return gaps;
}

std::string sentence_of(std::string gap)
{
    if (!gap.empty() && gap.front() >= 'a' && gap.front() <= 'z') {
        gap.front() = static_cast<char>(gap.front() - 'a' + 'A');
    }
    return gap + ".";
}

}  // namespace memsweep::reporters
