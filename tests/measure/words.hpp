// What is measured, in the words of reports.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reporters/wording/comparison_words.hpp"
#include "reporters/wording/finding_words.hpp"
#include "reporters/wording/probe_words.hpp"
#include "reporters/wording/replay_words.hpp"
#include "reporters/wording/time_words.hpp"

namespace memsweep::measure {

using reporters::cause_text;
using reporters::doubt_text;
using reporters::explanation;
using reporters::sentence;

inline std::vector<std::string> sentences(std::span<const Finding> findings)
{
    std::vector<std::string> texts;
    for (const Finding& finding : findings) {
        texts.push_back(sentence(finding));
    }
    return texts;
}

// Of each verdict on replays, and of what it rests on.
inline std::vector<std::string> replay_sentences(std::span<const model::CaseReport> cases)
{
    std::vector<std::string> texts;
    for (const ReplayVerdict& verdict : replay_verdicts(cases)) {
        texts.push_back(reporters::verdict_text(verdict));
        texts.push_back(reporters::figures_text(verdict));
    }
    return texts;
}

// Empty when there is nothing to attribute.
inline std::string cause_of(const model::CaseReport& base, const model::CaseReport& other)
{
    const auto attribution = attribute(base, other);
    return attribution ? cause_text(*attribution) : std::string{};
}

}  // namespace memsweep::measure
