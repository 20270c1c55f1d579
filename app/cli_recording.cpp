#include "app/cli_recording.hpp"

#include <CLI/CLI.hpp>

#include "core/base/quantity.hpp"

namespace memsweep::app {
namespace {

constexpr std::uint64_t largest_sample = 1'000'000;

CLI::App* add_record(CLI::App& app, RecordCommand& record, std::string& min_size, bool& no_children)
{
    CLI::App& command = *app.add_subcommand("record", "Record the allocations of a program and its children");
    command.add_option("command", record.command, "The program and its arguments, behind --")->type_name("CMD");
    command.add_option("-o,--out", record.out, "The trace to write (.mst)")->required()->type_name("FILE");
    command.add_option("--min-size", min_size, "Only blocks for which the allocator gave at least so much, as in 4KiB")
        ->type_name("SIZE");
    command.add_option("--sample", record.choice.sample, "One block of so many, chosen by address")
        ->capture_default_str()
        ->check(CLI::Range(std::uint64_t{1}, largest_sample))
        ->type_name("N");
    command.add_flag("--no-children", no_children, "Only the program itself, not the processes that it starts");
    command
        .add_option("--recover", record.recover, "Make a trace of a recording that was cut off, instead of recording")
        ->type_name("DIR");
    command.footer(
        "Exits with the status of the program (128+N when signal N killed it), or 2: it cannot be recorded,\n"
        "or the trace cannot be written whole.");
    return &command;
}

CLI::App* add_watch(CLI::App& app, WatchCommand& watch, std::string& interval)
{
    CLI::App& command = *app.add_subcommand("watch", "Working set, faults and memory pressure of a program over time");
    command.add_option("command", watch.command, "The program and its arguments, behind --")
        ->required()
        ->type_name("CMD");
    command.add_option("-i,--interval", interval, "From sample to sample")->capture_default_str()->type_name("DUR");
    command.add_option("-f,--format", watch.format, "text, or any format of a result: see memsweep list formats")
        ->capture_default_str()
        ->type_name("FMT");
    command
        .add_option("-o,--out", watch.out,
                    "Where to write (default: text to stderr, beside what the program prints; else stdout)")
        ->type_name("FILE");
    command.footer(
        "Exits with the status of the program (128+N when signal N killed it), or 2: it cannot be run, or the\n"
        "output cannot be written.");
    return &command;
}

}  // namespace

RecordingCommandLine::RecordingCommandLine(CLI::App& app)
    : record_app_{add_record(app, record_, min_size_, no_children_)}, watch_app_{add_watch(app, watch_, interval_)}
{
}

std::optional<Command> RecordingCommandLine::given() const
{
    if (watch_app_->parsed()) {
        WatchCommand watch = watch_;
        const auto interval = base::parse_duration(interval_);
        if (!interval || *interval <= std::chrono::nanoseconds::zero()) {
            throw CLI::ValidationError("--interval", interval ? "must be above 0" : interval.error().message);
        }
        watch.interval = *interval;
        return watch;
    }
    if (!record_app_->parsed()) {
        return std::nullopt;
    }
    RecordCommand record = record_;
    record.choice.children = !no_children_;
    if (!min_size_.empty()) {
        const auto size = base::parse_size(min_size_);
        if (!size) {
            throw CLI::ValidationError("--min-size", size.error().message);
        }
        record.choice.min_size_bytes = *size;
    }
    if (record.command.empty() == record.recover.empty()) {
        throw CLI::ValidationError(record.command.empty() ? "command: give the program to record behind --"
                                                          : "--recover records nothing: leave the program out");
    }
    if (record.out == "-") {
        throw CLI::ValidationError("--out", "the standard output belongs to the program: name a file");
    }
    return record;
}

}  // namespace memsweep::app
