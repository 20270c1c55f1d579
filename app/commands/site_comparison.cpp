#include "app/commands/site_comparison.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/commands/stack_recordings.hpp"
#include "core/measure/names.hpp"
#include "core/measure/site_changes.hpp"
#include "core/trace/stacks.hpp"
#include "core/trace/symbols/call_sites.hpp"
#include "core/trace/symbols/function_names.hpp"
#include "reporters/document/call_sites.hpp"
#include "reporters/text/escaping.hpp"
#include "scenarios/reader/command_plans.hpp"

namespace memsweep::app {
namespace {

// What C and C++ programs are linked with, and what serves their malloc: where it asks for memory, its caller does.
bool is_runtime(std::string_view module)
{
    constexpr std::array<std::string_view, 13> names{
        "libc.",       "libc-",  "libm.",       "ld-linux",    "libstdc++.",  "libc++",     "libgcc_s.",
        "libpthread.", "libdl.", "libjemalloc", "libtcmalloc", "libmimalloc", "libmemsweep"};
    return std::ranges::any_of(names, [&](std::string_view name) { return module.starts_with(name); });
}

measure::FrameRole role_of(const trace::ResolvedFrame& frame)
{
    switch (trace::role_of(frame.function)) {
    case trace::FunctionRole::allocator:
        return measure::FrameRole::allocator;
    case trace::FunctionRole::library:
        return measure::FrameRole::library;
    case trace::FunctionRole::program:
        break;
    }
    const bool is_start = frame.function == "_start";  // of every program, before main
    return is_start || is_runtime(trace::file_name(frame.module)) ? measure::FrameRole::library
                                                                  : measure::FrameRole::program;
}

// Reads the stacks of one run.
class StackReader {
  public:
    StackReader(trace::TraceReader& reader, measure::SiteFrames& frames)
        : reader_{reader}, frames_{frames}, table_{reader.read_stacks()},
          symbolizer_{symbolizer_of(reader, table_, trace::DebugFiles::of_this_machine)}
    {
    }

    measure::RecordedRun read()
    {
        const trace::CountedAllocations counted =
            count_allocations(reader_, trace::CountedBy::stack, {}, trace::PeakOf::largest_image);
        measure::RecordedRun run;
        for (std::uint32_t node = 0; node < counted.of.size(); ++node) {
            const trace::AllocationFigures& figures = counted.of[node];
            if (figures.allocations != 0 || figures.end_blocks != 0) {
                run.push_back({frames_of(node),
                               {.allocations = figures.allocations,
                                .allocated_bytes = figures.bytes_allocated,
                                .peak_bytes = figures.peak_bytes,
                                .peak_blocks = figures.peak_blocks,
                                .end_bytes = figures.end_bytes,
                                .end_blocks = figures.end_blocks}});
            }
        }
        return run;
    }

  private:
    std::vector<std::uint32_t> frames_of(std::uint32_t node)
    {
        std::vector<std::uint32_t> numbers;
        for (; node != 0 && numbers.size() < trace::most_frames_shown; node = table_.node(node).parent) {
            const auto [known, is_new] = numbers_.try_emplace(node);
            if (is_new) {
                for (const trace::ResolvedFrame& frame : symbolizer_.at(node)) {
                    known->second.push_back(frames_.number_of(site_frame(node, frame)));
                    if (frame.is_interpreted) {
                        interpreted_.insert(known->second.back());
                    }
                }
            }
            numbers.insert(numbers.end(), known->second.begin(), known->second.end());
        }
        // What an interpreter does for a line is that line's.
        const auto line = std::ranges::find_if(numbers, [&](std::uint32_t one) { return interpreted_.contains(one); });
        if (line != numbers.end()) {
            numbers.erase(numbers.begin(), line);
        }
        return numbers;
    }

    measure::SiteFrame site_frame(std::uint32_t node, const trace::ResolvedFrame& frame)
    {
        return {.function = reporters::inert_text(frame.function),
                .file = reporters::inert_text(trace::file_name(frame.file)),
                .line = frame.line,
                .place = reporters::inert_text(reporters::place_label(frame)),
                .module = reporters::inert_text(trace::file_name(frame.module)),
                .code = code_of(node, frame),
                .role = role_of(frame),
                .is_named = frame.is_named};
    }

    // What a file holds: by its build id; or the file itself.
    std::string code_of(std::uint32_t node, const trace::ResolvedFrame& frame)
    {
        for (const trace::LoadedModule& module : table_.modules(table_.image_of(node))) {
            if (module.path == frame.module && !module.build_id.empty()) {
                return std::string{module.build_id};
            }
        }
        return std::string{frame.module};
    }

    trace::TraceReader& reader_;
    measure::SiteFrames& frames_;
    const trace::StackTable& table_;
    trace::Symbolizer symbolizer_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> numbers_;  // of the frames at a node
    std::set<std::uint32_t> interpreted_;                          // frames that are lines of an interpreter's program
};

struct ProgramPair {
    std::array<const model::Case*, 2> cases{};
    std::array<const model::CaseReport*, 2> measured{};
};

// Why there is nothing to record; empty: there is.
std::string not_measured(const ProgramPair& pair)
{
    for (const model::CaseReport* const one : pair.measured) {
        if (one == nullptr || one->status != model::Status::ok) {
            return fmt::format("{} was not measured to its end", one == nullptr ? "a program" : one->id);
        }
    }
    return {};
}

class PairOfRecordings {
  public:
    PairOfRecordings(const ProgramPair& pair, const StackRecordings& recordings, std::chrono::nanoseconds timeout)
        : pair_{pair}, recordings_{recordings}, timeout_{timeout}
    {
    }

    base::Expected<model::SiteComparison> compare()
    {
        measure::ComparedSites compared;
        do {
            MEMSWEEP_TRY(record_both());
            if (runs_[0].size() >= measure::first_site_runs) {
                compared = measure::compare_sites(frames_, runs_[0], runs_[1],
                                                  measure::names_apart({pair_.measured[0], pair_.measured[1]}));
            }
        } while (!compared.is_settled);
        return std::move(compared.changes);
    }

  private:
    base::Expected<void> record_both()
    {
        for (std::size_t side = 0; side < runs_.size(); ++side) {
            const model::Case& one = *pair_.cases[side];
            MEMSWEEP_TRY(recordings_.run({.command = *one.command(),
                                          .allocator = one.allocator,
                                          .output = std::string{model::output_discarded},
                                          .timeout = timeout_,
                                          .name = one.id},
                                         [&](trace::TraceReader& reader, const std::string& /*name*/) {
                                             runs_[side].push_back(StackReader{reader, frames_}.read());
                                             return reader.outcome();
                                         }));
        }
        return {};
    }

    const ProgramPair& pair_;
    const StackRecordings& recordings_;
    std::chrono::nanoseconds timeout_;
    measure::SiteFrames frames_;
    std::array<std::vector<measure::RecordedRun>, 2> runs_;  // of the base and the candidate
};

const model::CaseReport* measured_of(const model::RunReport& report, const model::Case& one)
{
    const auto found = std::ranges::find(report.cases, one.id, &model::CaseReport::id);
    return found == report.cases.end() ? nullptr : &*found;
}

std::vector<ProgramPair> pairs_of(const model::Plan& plan, const model::RunReport& report)
{
    const auto is_of = [](const model::Case& one, std::string_view build) {
        const model::Scalar* const value = model::find_value(one.params, scenarios::build_axis);
        return one.command() != nullptr && value != nullptr && model::to_text(*value) == build;
    };
    const auto others = [](const model::Case& one) {
        std::vector<model::Param> params = one.params;
        std::erase_if(params, [](const model::Param& param) { return param.name == scenarios::build_axis; });
        return params;
    };
    std::vector<ProgramPair> pairs;
    for (const model::Case& base : plan.cases) {
        const auto candidate = std::ranges::find_if(plan.cases, [&](const model::Case& one) {
            return is_of(one, scenarios::candidate_build) && others(one) == others(base);
        });
        if (is_of(base, scenarios::base_build) && candidate != plan.cases.end()) {
            pairs.push_back({{&base, &*candidate}, {measured_of(report, base), measured_of(report, *candidate)}});
        }
    }
    return pairs;
}

}  // namespace

std::vector<model::SiteComparison> compare_call_sites(const model::Plan& plan, const model::RunReport& report,
                                                      const base::Expected<std::string>& recorder,
                                                      const sys::StopSignals& signals)
{
    std::vector<model::SiteComparison> all;
    for (const ProgramPair& pair : pairs_of(plan, report)) {
        model::SiteComparison sites;
        sites.reason = recorder ? not_measured(pair) : recorder.error().message;
        if (sites.reason.empty()) {
            const StackRecordings recordings{*recorder, signals};
            auto compared = PairOfRecordings{pair, recordings, plan.settings.timeout}.compare();
            if (compared) {
                sites = *std::move(compared);
            } else if (signals.arrived()) {
                sites.reason = "the recording was interrupted";
            } else {
                const base::Error& error = compared.error();
                sites.reason =
                    reporters::inert_text(error.where.empty() ? error.message : error.where + ": " + error.message);
            }
        }
        sites.base_case = pair.cases[0]->id;
        sites.candidate_case = pair.cases[1]->id;
        all.push_back(std::move(sites));
        if (signals.arrived()) {
            break;
        }
    }
    return all;
}

std::vector<model::Warning> site_warnings(const std::vector<model::SiteComparison>& sites)
{
    std::vector<model::Warning> warnings;
    for (const model::SiteComparison& one : sites) {
        if (!one.reason.empty()) {
            warnings.push_back({"sites-unnamed",
                                fmt::format("{}: no call site is named: {}", one.candidate_case, one.reason),
                                "the verdict stands; `memsweep record --stacks` shows what can be recorded"});
        }
    }
    return warnings;
}

}  // namespace memsweep::app
