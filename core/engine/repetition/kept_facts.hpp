// Facts of a case. The first repetition that gives a fact decides its value; later repetitions do not change the value.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/scalar.hpp"

namespace memsweep::engine {

inline constexpr std::string_view output_fact = "output";  // the checksum of what a command has printed

inline void keep_fact(std::string_view name, const std::string& text, std::vector<model::Param>& facts)
{
    if (!text.empty() && std::ranges::find(facts, name, &model::Param::name) == facts.end()) {
        facts.push_back({std::string{name}, text});
    }
}

}  // namespace memsweep::engine
