#include "app/cli_traces.hpp"

#include <bit>
#include <map>

#include <CLI/CLI.hpp>

#include "core/base/quantity.hpp"
#include "core/trace/placement.hpp"

namespace memsweep::app {
namespace {

CLI::App* add_info(CLI::App& app, InfoCommand& info)
{
    CLI::App& command =
        *app.add_subcommand("info", "What a trace holds: events, threads, live and peak bytes, sizes, lifetimes");
    command.add_option("trace", info.trace, "A trace (.mst); - is stdin")->required()->type_name("FILE");
    command.add_flag("--json", info.json, "The totals as JSON");
    command.footer("Exit codes: 0 all of it was read; 1 parts were damaged and left out; 2 unreadable.");
    return &command;
}

const std::map<std::string, trace::FreeOrder> free_orders{
    {"lifo", trace::FreeOrder::lifo}, {"fifo", trace::FreeOrder::fifo}, {"random", trace::FreeOrder::random}};

CLI::App* add_import(CLI::App& app, ImportCommand& import)
{
    std::vector<std::string> names;
    for (const trace::ImportFormat& format : trace::import_formats()) {
        names.emplace_back(format.name);
    }
    CLI::App& command = *app.add_subcommand("import", "Turn another tool's log into a trace");
    command.add_option("log", import.log, "A log, also compressed by gzip or zstd; - is stdin")
        ->required()
        ->type_name("FILE");
    command.add_option("-o,--out", import.out, "The trace to write (.mst); - is stdout")->required()->type_name("FILE");
    command.add_option("--format", import.format, "What the log is, where its first bytes do not tell")
        ->check(CLI::IsMember(names))
        ->type_name("FMT");
    command
        .add_option("--heaptrack-order", import.free_order,
                    "Which block of a class heaptrack means: lifo, fifo, random")
        ->transform(CLI::CheckedTransformer(free_orders))
        ->type_name("ORDER");
    command.add_option("--uid", import.uid, "Umpire 4 and before: only the events of this process")->type_name("UID");
    command.add_flag("--strict", import.strict,
                     "Refuse a log with bad lines, which otherwise are counted and left out");
    command.add_flag("--json", import.json, "The totals as JSON");
    command.footer("Exit codes: 0 imported; 2 unreadable, of an unknown format, or --strict and a line is bad.");
    return &command;
}

CLI::App* add_export(CLI::App& app, ExportCommand& to_export)
{
    CLI::App& command = *app.add_subcommand("export", "Write a trace as another tool's log");
    command.add_option("trace", to_export.trace, "A trace (.mst); - is stdin")->required()->type_name("FILE");
    command.add_option("-f,--format", to_export.format, "rmm (CSV) or umpire (JSON lines)")
        ->required()
        ->check(CLI::IsMember({"rmm", "umpire"}))
        ->type_name("FMT");
    command.add_option("-o,--out", to_export.out, "Where to write (default stdout)")->type_name("FILE");
    command.footer("Exit codes: 0 written; 1 parts of the trace were damaged and left out; 2 unreadable.");
    return &command;
}

CLI::App* add_fit(CLI::App& app, FitCommand& fit, std::string& capacity, std::string& alignment)
{
    std::vector<std::string> names;
    for (const trace::PlacementPolicy& policy : trace::placement_policies()) {
        names.emplace_back(policy.name);
    }
    CLI::App& command =
        *app.add_subcommand("fit", "Smallest capacity a trace needs per placement policy; needs no GPU");
    command.add_option("trace", fit.trace, "A trace (.mst); - is stdin")->required()->type_name("FILE");
    command.add_option("--capacity", capacity, "Also say what fails first at this capacity, as in 80GiB")
        ->type_name("SIZE");
    command.add_option("--policy", fit.policies, "Only this policy (repeatable)")
        ->allow_extra_args(false)
        ->check(CLI::IsMember(names))
        ->type_name("POLICY");
    command
        .add_option("--alignment", alignment,
                    "Sizes are rounded up to it (default 16B, and 256B where there are devices)")
        ->type_name("SIZE");
    command.add_option("--runs", fit.runs, "The same run so often: what the last one needs")
        ->capture_default_str()
        ->check(CLI::Range(1U, 1000U))
        ->type_name("N");
    command.add_option("-f,--format", fit.format, "text, json, or html with pictures of the address space")
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "json", "html"}))
        ->type_name("FMT");
    command.add_option("-o,--out", fit.out, "Where to write (default stdout)")->type_name("FILE");
    command.footer(
        "Exit codes: 0 done; 1 --capacity is too small for a policy, or parts of the trace were damaged and left\n"
        "out; 2 unreadable.");
    return &command;
}

std::optional<std::uint64_t> size_given(const std::string& text, const char* flag)
{
    if (text.empty()) {
        return std::nullopt;
    }
    const auto size = base::parse_size(text);
    if (!size) {
        throw CLI::ValidationError(flag, size.error().message);
    }
    return *size;
}

}  // namespace

TraceCommandLine::TraceCommandLine(CLI::App& app)
    : info_app_{add_info(app, info_)}, import_app_{add_import(app, import_)}, export_app_{add_export(app, export_)},
      fit_app_{add_fit(app, fit_, capacity_, alignment_)}
{
}

std::optional<Command> TraceCommandLine::given() const
{
    if (info_app_->parsed()) {
        return info_;
    }
    if (import_app_->parsed()) {
        return import_;
    }
    if (export_app_->parsed()) {
        return export_;
    }
    if (fit_app_->parsed()) {
        FitCommand fit = fit_;
        fit.capacity_bytes = size_given(capacity_, "--capacity");
        fit.alignment_bytes = size_given(alignment_, "--alignment");
        if (fit.alignment_bytes && !std::has_single_bit(*fit.alignment_bytes)) {
            throw CLI::ValidationError("--alignment", "not a power of two");
        }
        return fit;
    }
    return std::nullopt;
}

}  // namespace memsweep::app
