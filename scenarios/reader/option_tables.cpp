// The keys of a scenario's top level, of the files that it includes, and of its smaller objects.
#include "scenarios/reader/option_tables.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/model/metric.hpp"
#include "core/model/plan.hpp"
#include "scenarios/reader/limits.hpp"

namespace memsweep::scenarios {
namespace {

using Run = RunSettings;

template <typename Object>
Row<Object> schema_key()
{
    return rows::key<Object>("$schema", OptionKind::text, "for editors; memsweep ignores it");
}

// Shared by the scenario and the files it includes.
OptionTable<Run> label_keys()
{
    using enum OptionKind;
    return {rows::key<Run>("description", text, "one sentence for lists and reports"),
            rows::key<Run>("include", texts,
                           "files with settings, relative to this one; this file's own keys win over them, and a later "
                           "file over an earlier one")};
}

std::vector<std::string_view> metric_names()
{
    std::vector<std::string_view> names;
    std::ranges::transform(model::metric_catalog(), std::back_inserter(names), &model::MetricInfo::name);
    return names;
}

Row<Run> headline()
{
    return rows::bound<Run>(
               "headline", OptionKind::choices, "the metrics that the scenario is about; reports show them first",
               [](const Run& run) { return Value{run.settings.headline}; },
               [](Run& run, const Value& value) { run.settings.headline = std::get<std::vector<std::string>>(value); })
        .one_of(metric_names)
        .left_out();
}

OptionTable<Run> run_keys()
{
    using S = model::Settings;
    return {
        rows::integer<&Run::settings, &S::repetitions>("repetitions", 1, 100'000, "measured runs of each case"),
        rows::integer<&Run::settings, &S::warmup>("warmup", 0, 1'000,
                                                  "runs before the measured ones; they are not kept"),
        rows::duration<&Run::settings, &S::timeout>("timeout", millisecond, 24 * hour,
                                                    "longest time of one repetition"),
        rows::choice<&Run::settings, &S::order>("order", "how the repetitions of the cases follow each other"),
        rows::integer<&Run::settings, &S::seed>("seed", 0, any_integer, "seed of everything that is random"),
        rows::choice<&Run::settings, &S::isolation>("isolation", "whether repetitions share a process"),
    };
}

Row<Run> series()
{
    return rows::key<Run>("series", OptionKind::object, "what is recorded over time");
}

struct AxisRangeKeys {};

std::vector<std::string_view> series_metrics()
{
    return {"working_set", "live_bytes"};
}

std::vector<std::string> all_series_metrics()
{
    const auto names = series_metrics();
    return {names.begin(), names.end()};
}

}  // namespace

const OptionTable<RunSettings>& scenario_table()
{
    using enum OptionKind;
    static const OptionTable<Run> table =
        OptionTable<Run>{
            schema_key<Run>(),
            rows::key<Run>("format", text, "\"memsweep-scenario\"").required(),
            rows::version_key<Run>(),
            rows::key<Run>("name", name, "of the scenario; begins every case id").required(),
        }
            .then(label_keys())
            .then({
                rows::key<Run>("variables", object, "names and values for ${NAME}; --set changes them"),
                rows::key<Run>("requires", object, "what the machine must have"),
                rows::key<Run>("ranks", integer, "number of MPI ranks that its transfers need; \"2+\": two or more")
                    .within(2, max_ranks),
            })
            .then(run_keys())
            .then({
                headline(),
                rows::key<Run>("axes", object, "names and values; every combination is a case; -a changes them"),
                rows::key<Run>("exclude", list, "combinations to leave out: axis names and values"),
                rows::key<Run>("memory", object, "where the memory of arrays comes from"),
                rows::key<Run>("release", object, "when memory that was dropped is freed"),
                rows::key<Run>("safety", object, "checks that look for misuse of memory"),
                rows::key<Run>("allocators", object, "settings of the allocators that the axis \"allocator\" names"),
                rows::key<Run>("steps", list, "what one repetition does, in order"),
                rows::key<Run>("command", object, "a program to run in place of steps"),
                series(),
                rows::key<Run>("assert", list, "what must hold"),
            });
    return table;
}

const OptionTable<RunSettings>& settings_table()
{
    static const OptionTable<Run> table =
        OptionTable<Run>{schema_key<Run>()}.then(label_keys()).then(run_keys()).then({series()});
    return table;
}

// How many devices there must be is one more than the number of the highest.
const OptionTable<model::Requirements>& requires_table()
{
    using R = model::Requirements;
    static const OptionTable<R> table{
        rows::size<&R::memory_bytes>("memory", "memory that this machine or its control group must have")
            .always("memory_bytes"),
        rows::integer<&R::numa_nodes>("numa_nodes", 0, 1024, "number of NUMA nodes that this machine must have")
            .always(),
        rows::bound<R>(
            "device", OptionKind::device, "an accelerator that this machine must have, such as gpu0; null: none",
            [](const R& needs) { return needs.devices == 0 ? Value{} : Value{std::uint64_t{needs.devices} - 1}; },
            [](R& needs, const Value& number) {
                needs.devices = static_cast<std::uint32_t>(std::get<std::uint64_t>(number)) + 1;
            })
            .or_null()
            .always({})
            .by([](const R& needs) { return needs.devices == 0 ? Value{false} : Value{std::uint64_t{needs.devices}}; }),
    };
    return table;
}

// `from`, `to` and `step` are integers or sizes, alike; read by axis_values.cpp.
std::span<const OptionInfo> axis_range_options()
{
    using enum OptionKind;
    using Keys = AxisRangeKeys;
    static const OptionTable<Keys> table{
        rows::key<Keys>("from", size, "first value: an integer or a size").within(0, any_size).required(),
        rows::key<Keys>("to", size, "last value; included if a step lands on it").within(0, any_size).required(),
        rows::key<Keys>("factor", integer, "each value is this many times the one before").within(2, thousand_million),
        rows::key<Keys>("step", size, "each value is this much more than the one before").within(1, any_size),
    };
    return table.options();
}

const OptionTable<Profile>& profile_table()
{
    using enum OptionKind;
    static const OptionTable<Profile> table{
        schema_key<Profile>(),
        rows::key<Profile>("format", text, "\"memsweep-profile\"").required(),
        rows::version_key<Profile>(),
        rows::key<Profile>("name", text, "the file's name without .json").required(),
        rows::key<Profile>("description", text, "which runtime it stands for, and from where").required(),
        rows::key<Profile>("inherits", text, "another profile; its keys apply where this one has none"),
        rows::flag<&Profile::verified>("verified",
                                       "whether recorded runs of the runtime have confirmed when it collects"),
        rows::key<Profile>("release", object, "the keys of \"release\" that describe it").required(),
    };
    return table;
}

const OptionTable<model::CommandSpec>& command_table()
{
    using enum OptionKind;
    using C = model::CommandSpec;
    static const OptionTable<C> table{
        rows::row<&C::run>("run", texts, "the program and its arguments; with `shell`, one string").required(),
        rows::row<&C::prepare>("prepare", texts,
                               "a command that runs before each repetition, outside all measurements"),
        rows::row<&C::cleanup>("cleanup", texts, "a command that runs after each repetition, outside all measurements"),
        rows::text<&C::input>("stdin", "file that its standard input is read from; default: empty"),
        rows::text<&C::cwd>("cwd", "folder that it runs in, and that relative paths start from"),
        rows::key<C>("env", object, "names and values to add to its environment"),
        rows::text<&C::output>(
            "stdout",
            "where its standard output goes: null, inherit, pipe (read and discarded), checksum (all cases must print "
            "the same), or a file")
            .or_null(),
        rows::key<C>("end_when", text,
                     "when its work is done, and working_set_end is measured: exit, file:PATH (it makes the file), "
                     "line:REGEX (it prints such a line), signal (SIGUSR1 to the pid in MEMSWEEP_PID)"),
        rows::integer<&C::exit_code>("exit_code", 0, 255, "the exit code that counts as success"),
        rows::flag<&C::shell>("shell", "run, prepare and cleanup are scripts of /bin/sh"),
        rows::flag<&C::count>("count", "extra repetitions count its allocations exactly; timed ones never count"),
    };
    return table;
}

// Both metrics are recorded where the list is absent; SeriesSpec begins with none, since most cases have no series.
const OptionTable<model::SeriesSpec>& series_table()
{
    using S = model::SeriesSpec;
    static const OptionTable<S> table{
        rows::duration<&S::interval>("interval", millisecond, 60'000 * millisecond, "time between two samples")
            .required()
            .always("interval_ns"),
        rows::bound<S>(
            "metrics", OptionKind::choices, "what is sampled", [](const S&) { return Value{all_series_metrics()}; },
            [](S& series, const Value& value) {
                series.working_set = false;
                series.live_bytes = false;
                for (const std::string& metric : std::get<std::vector<std::string>>(value)) {
                    (metric == "working_set" ? series.working_set : series.live_bytes) = true;
                }
            })
            .one_of(series_metrics)
            .left_out(),
    };
    return table;
}

const OptionTable<model::Assertion>& assert_table()
{
    using A = model::Assertion;
    static const OptionTable<A> table{
        rows::key<A>("where", OptionKind::object,
                     "axis names and values that select the cases it is about; default: all"),
        rows::key<A>(
            "expr", OptionKind::text,
            "[POINT.]METRIC.STAT OP NUMBER[UNIT], or ratio(METRIC.STAT, AXIS=V, AXIS=V) OP NUMBER, or slope(the "
            "same), or explained(AXIS=V, AXIS=V)")
            .required(),
        rows::choice<&A::severity>("severity", "whether a broken assertion sets the exit code").always(),
        rows::flag<&A::abort>("abort", "end the run if it does not hold").always(),
    };
    return table;
}

std::vector<OptionSection> option_sections()
{
    std::vector<OptionSection> sections{
        {"scenario", "the top level of a scenario file", scenario_table().options()},
        {"settings", "the top level of an included file", settings_table().options()},
        {"requires", "what the machine must have; unmet, the cases are skipped with a reason",
         requires_table().options()},
        {"axes: range", "an axis given as a range instead of a list", axis_range_options()},
        {"memory", "where the memory of arrays comes from", memory_table().options()},
        {"numa", "on which NUMA nodes memory lies", numa_table().options()},
        {"pool", "a pool that keeps freed memory between the arrays and their resource", pool_table().options()},
        {"memory.trim", "when arrays in use are trimmed", memory_trim_table().options()},
        {"release", "when memory that was dropped is freed", release_table().options()},
        {"safety", "checks that look for misuse of memory", safety_table().options()},
        {"allocators", "settings of the allocators that the axis \"allocator\" names", allocators_options()},
        {"allocators: glibc", "the C library's tunables", allocator_options("glibc")},
        {"allocators: jemalloc", "jemalloc's options", allocator_options("jemalloc")},
        {"allocators: mimalloc", "mimalloc's options", allocator_options("mimalloc")},
        {"allocators: tcmalloc", "gperftools' tcmalloc", allocator_options("tcmalloc")},
        {"profile", "the top level of a runtime profile, configs/runtimes/*.json", profile_table().options()},
        {"command", "a program to run in place of steps", command_table().options()},
        {"series", "what is recorded over time", series_table().options()},
        {"assert", "what must hold", assert_table().options()},
        {"step", "what every step may carry", step_table().options()},
    };
    for (const model::OperationInfo& operation : model::operations()) {
        sections.push_back(
            {fmt::format("step: {}", operation.name), operation.meaning, operation_options(operation.name)});
    }
    sections.push_back({"transfer", "one of the transfers of a step", transfer_table().options()});
    return sections;
}

}  // namespace memsweep::scenarios
