#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands.hpp"
#include "app/fleet_merging.hpp"
#include "app/report_output.hpp"
#include "core/measure/merge.hpp"
#include "core/sys/atomic_file.hpp"
#include "reporters/fleet_json.hpp"
#include "reporters/json_writer.hpp"
#include "scenarios/fingerprint.hpp"

namespace memsweep::app {
namespace {

struct Part {
    std::string path;
    model::RunReport report;
};

// Results of one host are kept whole, to be merged into one; those of several become a fleet as they are read.
class Collected {
  public:
    Collected(const MergeCommand& command, bool as_fleet)
        : command_{command}, is_fleet_{as_fleet}, fleet_{command.force}
    {
    }

    // False: reading on is of no use.
    bool take(const std::string& path, base::Expected<model::RunReport> result)
    {
        if (!result) {
            print_error(result.error());
            unreadable_ = true;
            return true;
        }
        if (result->run.interrupted) {
            print_note(fmt::format("{}: its run did not finish; what it measured is merged", path));
        }
        code_ = worse(code_, static_cast<ExitCode>(result->run.exit_code));
        const bool other_host =
            !parts_.empty() && measure::host_name(*result) != measure::host_name(parts_.front().report);
        if (other_host && !command_.one_machine && !is_fleet_) {
            is_fleet_ = true;
        }
        if (!is_fleet_) {
            parts_.push_back({path, *std::move(result)});
            return true;
        }
        return become_fleet() && add(path, *result);
    }

    // What was read before it was known to be a fleet.
    bool become_fleet()
    {
        for (const Part& part : parts_) {
            if (!add(part.path, part.report)) {
                return false;
            }
        }
        parts_.clear();
        return true;
    }

    [[nodiscard]] bool is_fleet() const { return is_fleet_; }
    [[nodiscard]] bool unreadable() const { return unreadable_; }
    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] bool empty() const { return parts_.empty() && ids_.empty(); }
    [[nodiscard]] ExitCode worst() const { return code_; }
    [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
    [[nodiscard]] const std::string& ids() const { return ids_; }
    measure::FleetBuilder& fleet() { return fleet_; }

  private:
    bool add(const std::string& path, const model::RunReport& report)
    {
        if (auto added = fleet_.add(path, report); !added) {
            print_error(added.error());
            failed_ = true;
            return false;
        }
        ids_ += report.run.id + "\n";
        return true;
    }

    const MergeCommand& command_;
    bool is_fleet_;
    bool unreadable_{};
    bool failed_{};
    ExitCode code_{ExitCode::done};
    std::vector<Part> parts_;
    std::string ids_;
    measure::FleetBuilder fleet_;
};

// The same parts make the same id: merging twice writes the same bytes twice.
std::string id_of(const std::string& started, const std::string& parts)
{
    return fmt::format("{}-{:.8}", started, scenarios::sha256(parts));
}

ExitCode write_merged(const Collected& collected, const MergeCommand& command, const GlobalOptions& global)
{
    std::vector<measure::MergePart> parts;
    for (const Part& part : collected.parts()) {
        parts.push_back({part.path, &part.report});
    }
    auto merged = measure::merge(parts, command.force);
    if (!merged) {
        print_error(merged.error());
        return ExitCode::bad_input;
    }
    merged->run.id = id_of(merged->run.started, merged->run.tags.at(measure::merged_from_tag));
    merged->run.argv = global.argv;
    merged->run.exit_code = static_cast<int>(collected.worst());
    return write_text(reporters::to_json(*merged), command.out);
}

ExitCode write_fleet(const model::Fleet& fleet, const std::string& path)
{
    const auto write = [&](const sys::PieceTaker& take) {
        reporters::TextSink sink{take};
        reporters::write_fleet_json(fleet, sink);
        return sink.finish();
    };
    if (path == "-") {
        return write(print_data) ? ExitCode::done : ExitCode::bad_input;
    }
    const auto written =
        sys::write_file_atomically(path, [&](const sys::PieceTaker& take) { static_cast<void>(write(take)); });
    if (!written) {
        print_error(written.error());
        return ExitCode::bad_input;
    }
    return ExitCode::done;
}

void tell_missing(const model::Fleet& fleet)
{
    const std::size_t missing = model::count_missing(fleet);
    const std::size_t unnamed = missing - std::min(missing, fleet.missing.size());
    std::string who = fmt::format("{}", fmt::join(fleet.missing, ", "));
    if (unnamed > 0) {
        who += fmt::format("{}{} host{} that no result names", who.empty() ? "" : " and ", unnamed,
                           unnamed == 1 ? "" : "s");
    }
    print_error({base::ErrorCode::invalid_input,
                 fmt::format("{} of {} hosts came; missing: {}", fleet.hosts.size(),
                             fleet.expected.value_or(fleet.hosts.size()), who),
                 "merge"});
}

ExitCode merge_fleet(Collected& collected, const measure::Expectation& expectation, const HostTags& tags,
                     const MergeCommand& command, const GlobalOptions& global)
{
    if (!collected.become_fleet()) {
        return ExitCode::bad_input;
    }
    model::Fleet fleet = collected.fleet().finish(expectation, tags);
    fleet.id = id_of(fleet.started, collected.ids());
    fleet.argv = global.argv;
    fleet.exit_code = static_cast<int>(collected.worst());
    const ExitCode written = write_fleet(fleet, command.out);
    if (model::count_missing(fleet) > 0) {
        tell_missing(fleet);
        return worse(written, ExitCode::case_failed);
    }
    return written;
}

}  // namespace

ExitCode execute(const MergeCommand& command, const GlobalOptions& global)
{
    if (std::ranges::count(command.results, "-") > 1) {
        print_error({base::ErrorCode::invalid_input, "the standard input holds one result only", "-"});
        return ExitCode::bad_input;
    }
    const auto expectation = parse_expectation(command.expect);
    const auto tags = command.tags.empty() ? base::Expected<HostTags>{HostTags{}} : read_host_tags(command.tags);
    if (!expectation || !tags) {
        print_error(expectation ? tags.error() : expectation.error());
        return ExitCode::bad_input;
    }
    // With hosts to expect, a result that cannot be read is that of a host that did not come through.
    const bool expects = !command.expect.empty();
    Collected collected{command, expects || !command.tags.empty()};
    read_results(command.results, [&](const std::string& path, base::Expected<model::RunReport> result) {
        return collected.take(path, std::move(result));
    });
    if (collected.failed() || collected.empty() || (collected.unreadable() && !expects)) {
        return ExitCode::bad_input;
    }
    return collected.is_fleet() ? merge_fleet(collected, *expectation, *tags, command, global)
                                : write_merged(collected, command, global);
}

}  // namespace memsweep::app
