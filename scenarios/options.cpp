#include "scenarios/options.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/model/step.hpp"

namespace memsweep::scenarios {
namespace {

// The largest unit that divides the bound: "1ms", "24h". parse_duration reads it back.
std::string exact_duration(std::uint64_t ns)
{
    constexpr std::array<std::pair<std::uint64_t, std::string_view>, 6> units{{{3600'000'000'000, "h"},
                                                                               {60'000'000'000, "m"},
                                                                               {1000'000'000, "s"},
                                                                               {1000'000, "ms"},
                                                                               {1000, "us"},
                                                                               {1, "ns"}}};
    for (const auto& [factor, name] : units) {
        if (ns >= factor && ns % factor == 0) {
            return fmt::format("{}{}", ns / factor, name);
        }
    }
    return "0ns";
}

std::string exact_count(std::uint64_t count)
{
    return count < 1'000'000'000'000 ? base::format_count(static_cast<double>(count)) : fmt::format("{}", count);
}

}  // namespace

std::string_view kind_name(OptionKind kind)
{
    switch (kind) {
    case OptionKind::size:
        return "size";
    case OptionKind::duration:
        return "duration";
    case OptionKind::integer:
        return "integer";
    case OptionKind::number:
        return "number";
    case OptionKind::boolean:
        return "boolean";
    case OptionKind::choice:
        return "choice";
    case OptionKind::choices:
        return "list of choices";
    case OptionKind::name:
        return "name";
    case OptionKind::text:
        return "text";
    case OptionKind::texts:
        return "text or list of texts";
    case OptionKind::shape:
        return "list of integers";
    case OptionKind::object:
        return "object";
    case OptionKind::list:
        return "list of objects";
    }
    return "?";
}

std::string_view unit_of(OptionKind kind)
{
    switch (kind) {
    case OptionKind::size:
        return "B";
    case OptionKind::duration:
        return "ns";
    case OptionKind::integer:
    case OptionKind::number:
    case OptionKind::shape:
        return "1";
    default:
        return {};
    }
}

bool has_bounds(OptionKind kind)
{
    return !unit_of(kind).empty();
}

std::string format_bound(OptionKind kind, std::uint64_t bound)
{
    switch (kind) {
    case OptionKind::size:
        return bound == 0 ? "0" : base::exact_size(bound);
    case OptionKind::duration:
        return exact_duration(bound);
    default:
        return exact_count(bound);
    }
}

std::string accepted(const OptionInfo& option)
{
    const auto bounds = [&] {
        return fmt::format("{} to {}", format_bound(option.kind, option.min), format_bound(option.kind, option.max));
    };
    switch (option.kind) {
    case OptionKind::size:
        return fmt::format("a size from {}", bounds());
    case OptionKind::duration:
        return fmt::format("a duration from {}", bounds());
    case OptionKind::integer:
        return fmt::format("an integer from {}", bounds());
    case OptionKind::number:
        return fmt::format("a number from {}", bounds());
    case OptionKind::shape:
        return fmt::format("a list of integers from {}", bounds());
    case OptionKind::boolean:
        return "true or false";
    case OptionKind::choice:
        return fmt::format("one of {}", fmt::join(option.choices(), ", "));
    case OptionKind::choices:
        return fmt::format("a list of {}", fmt::join(option.choices(), ", "));
    case OptionKind::name:
        return "a lower-case letter, then letters, digits and _ (at most 64)";
    case OptionKind::text:
        return "a string";
    case OptionKind::texts:
        return "a string or a list of strings";
    case OptionKind::object:
        return "an object";
    case OptionKind::list:
        return "a list of objects";
    }
    return "?";
}

std::vector<OptionSection> option_sections()
{
    std::vector<OptionSection> sections{
        {"scenario", "the top level of a scenario file", scenario_options()},
        {"settings", "the top level of an included file", settings_options()},
        {"requires", "what the machine must have; unmet, the cases are skipped with a reason", requires_options()},
        {"axes: range", "an axis given as a range instead of a list", axis_range_options()},
        {"memory", "what arrays are made of", memory_options()},
        {"numa", "on which nodes memory lies", numa_options()},
        {"pool", "what is kept between the arrays and their resource", pool_options()},
        {"memory.trim", "when arrays in use are trimmed", memory_trim_options()},
        {"release", "when memory that was dropped is freed", release_options()},
        {"safety", "what looks for mistakes in the use of memory", safety_options()},
        {"allocators", "settings of the allocators that the axis allocator names", allocators_options()},
        {"allocators: glibc", "the C library's tunables", allocator_options("glibc")},
        {"allocators: jemalloc", "jemalloc's options", allocator_options("jemalloc")},
        {"allocators: mimalloc", "mimalloc's options", allocator_options("mimalloc")},
        {"allocators: tcmalloc", "gperftools' tcmalloc", allocator_options("tcmalloc")},
        {"profile", "the top level of a runtime profile, configs/runtimes/*.json", profile_options()},
        {"series", "what is recorded over time", series_options()},
        {"assert", "what must hold", assert_options()},
        {"step", "what every step may carry", step_options()},
    };
    for (const model::OperationInfo& operation : model::operations()) {
        sections.push_back(
            {fmt::format("step: {}", operation.name), operation.meaning, operation_options(operation.name)});
    }
    sections.push_back({"transfer", "one of the transfers of a step", transfer_options()});
    return sections;
}

}  // namespace memsweep::scenarios
