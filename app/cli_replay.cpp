#include "app/cli_replay.hpp"

#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/formats.hpp"

namespace memsweep::app {
namespace {

const std::map<std::string, model::ReplayTouch> touches{{"recorded", model::ReplayTouch::recorded},
                                                        {"none", model::ReplayTouch::none},
                                                        {"first-byte", model::ReplayTouch::first_byte},
                                                        {"all", model::ReplayTouch::all}};
const std::map<std::string, model::ReplaySpeed> speeds{{"maximum", model::ReplaySpeed::maximum},
                                                       {"original", model::ReplaySpeed::original}};

std::vector<std::string> format_names()
{
    std::vector<std::string> names;
    for (const reporters::Format& format : reporters::formats()) {
        names.emplace_back(format.name);
    }
    return names;
}

void add_what(CLI::App& app, scenarios::ReplayRequest& request)
{
    app.add_option("trace", request.trace, "A trace (.mst)")->required()->type_name("FILE");
    app.add_option("--on", request.on,
                   "With commas: glibc, jemalloc, mimalloc, tcmalloc, a library's path, null, pool:tls, pool:pow2, "
                   "best_fit, tlsf, arena, pages; memory of a device: pinned, managed, device, below a pool too "
                   "(pool@device), of another one (device@gpu1)")
        ->required()
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("A,B");
    app.add_option("--release", request.release,
                   "Release modes, with commas (memsweep list disciplines), or MODE:PROFILE; immediate (the default) "
                   "makes the recorded calls and nothing else")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("MODE,...");
    app.add_option("--threads", request.threads,
                   "With commas: the recorded threads are dealt out to so many; 0 (the default): as recorded")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::Range(0U, 1024U))
        ->type_name("N,...");
    app.add_option("--touch", request.touch,
                   "What is written into each block: recorded (first-byte: no trace says yet), none, "
                   "first-byte (and one of each further page), all")
        ->transform(CLI::CheckedTransformer(touches))
        ->type_name("WHAT");
    app.add_option("--speed", request.speed, "maximum (the default) or original: no event before its recorded time")
        ->transform(CLI::CheckedTransformer(speeds))
        ->type_name("SPEED");
    app.add_option("--collect-every", request.collect_every,
                   "Of release modes that collect and have no profile: allocations between two collections")
        ->capture_default_str()
        ->check(CLI::Range(1U, 1'000'000'000U))
        ->type_name("N");
}

}  // namespace

ReplayCommandLine::ReplayCommandLine(CLI::App& app)
    : app_{app.add_subcommand("replay", "Replay a trace on allocators, pools and release modes")}
{
    add_what(*app_, replay_.request);
    app_->add_option("-n,--repetitions", replay_.request.repetitions, "Measured repetitions of each case")
        ->capture_default_str()
        ->check(CLI::Range(1U, 1'000'000U))
        ->type_name("N");
    app_->add_option("--warmup", replay_.request.warmup, "Rounds run and discarded first")
        ->capture_default_str()
        ->check(CLI::Range(0U, 1'000'000U))
        ->type_name("N");
    app_->add_option("--settle", settle_, "How long what stays resident after the end is watched, up to 5s")
        ->capture_default_str()
        ->type_name("DURATION");
    app_->add_flag("--no-latency", no_latency_, "Leave out the last replay, which times every call");
    app_->add_option("--timeout", timeout_, "Time allowed to one repetition (default 10m)")->type_name("DURATION");
    app_->add_option("--max-memory", max_memory_, "Refuse cases that would hold more (default 80 % of what is left)")
        ->type_name("SIZE");
    app_->add_flag("--dry-run", replay_.dry_run, "Print the cases and their memory; measure nothing");
    app_->add_option("-f,--format", replay_.format,
                     "Print this format (memsweep list formats) instead of tables; json is the result itself")
        ->check(CLI::IsMember(format_names()))
        ->type_name("FMT");
    app_->add_option("-o,--out", replay_.out,
                     "Where to: what -f asks for, else the result (default results/replay-<UTC>.json)")
        ->type_name("FILE");
    app_->add_option("-r,--report", reports_, "Also write this format, to FILE or stdout (repeatable)")
        ->type_name("FMT[=FILE]");
    app_->footer("Exit codes: 0 done; 2 unreadable or a wrong name; 3 a case crashed, timed out or ran out of memory;\n"
                 "4 nothing was measured.");
}

std::optional<Command> ReplayCommandLine::given() const
{
    if (!app_->parsed()) {
        return std::nullopt;
    }
    const auto duration = [](const std::string& text, const char* flag) {
        const auto parsed = base::parse_duration(text);
        if (!parsed) {
            throw CLI::ValidationError(flag, parsed.error().message);
        }
        return *parsed;
    };
    ReplayCommand replay = replay_;
    replay.request.settle = duration(settle_, "--settle");
    replay.request.latency = !no_latency_;
    if (!timeout_.empty()) {
        replay.request.timeout = duration(timeout_, "--timeout");
    }
    if (!max_memory_.empty()) {
        const auto bytes = base::parse_size(max_memory_);
        if (!bytes) {
            throw CLI::ValidationError("--max-memory", bytes.error().message);
        }
        replay.max_memory_bytes = *bytes;
    }
    if (replay.request.release.empty()) {
        replay.request.release = {"immediate"};
    }
    if (replay.request.threads.empty()) {
        replay.request.threads = {0};
    }
    for (const std::string& text : reports_) {
        const std::size_t at = text.find('=');
        replay.reports.push_back({text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1)});
    }
    return replay;
}

}  // namespace memsweep::app
