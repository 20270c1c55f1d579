#include "scenarios/reader/name_flow.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "scenarios/reader/foreign_text.hpp"

namespace memsweep::scenarios {

void NameFlow::bind(const std::string& name, Arrays arrays)
{
    note(name, false, {});
    names_[name] = State{true, std::move(arrays), {}};
}

const Arrays* NameFlow::use(const std::string& name, const Place& place)
{
    note(name, true, place);
    const auto found = names_.find(name);
    if (found == names_.end()) {
        const auto known = names_of(names_, &decltype(names_)::value_type::first);
        complain(place,
                 fmt::format("no step before this one allocates {}{}", in_quotes(name), base::suggestion(name, known)));
        return nullptr;
    }
    const State& state = found->second;
    if (!state.live) {
        complain(place, fmt::format("{} is dropped already, at line {}", in_quotes(name), state.dropped_at.line));
        return nullptr;
    }
    return &state.arrays;
}

void NameFlow::drop(const std::string& name, const Place& place)
{
    if (use(name, place) != nullptr) {
        names_[name] = State{false, {}, place};
    }
}

void NameFlow::enter_loop()
{
    loops_.emplace_back();
}

void NameFlow::leave_loop(bool more_passes)
{
    const auto first_events = std::move(loops_.back());
    loops_.pop_back();
    for (const auto& [name, event] : first_events) {
        const auto state = names_.find(name);
        if (more_passes && event.needs_arrays && state != names_.end() && !state->second.live) {
            complain(event.place,
                     fmt::format("{} is dropped by the first pass of the repeat around it, so the second has none",
                                 in_quotes(name)));
        }
    }
}

void NameFlow::enter_scope()
{
    std::vector<std::string> live;
    for (const auto& [name, state] : names_) {
        if (state.live) {
            live.push_back(name);
        }
    }
    outer_names_.push_back(std::move(live));
}

void NameFlow::leave_scope(const Place& place)
{
    const std::vector<std::string> outer = std::move(outer_names_.back());
    outer_names_.pop_back();
    for (auto& [name, state] : names_) {
        if (state.live && !std::binary_search(outer.begin(), outer.end(), name)) {
            state = State{false, {}, place};
        }
    }
}

void NameFlow::note(const std::string& name, bool needs_arrays, const Place& place)
{
    for (auto& first_events : loops_) {
        first_events.try_emplace(name, FirstEvent{needs_arrays, place});
    }
}

void NameFlow::complain(const Place& place, std::string message)
{
    if (complete_) {
        diagnostics_.add(place, std::move(message));
    }
}

}  // namespace memsweep::scenarios
