#include "app/commands/result_journal.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/measure/merge.hpp"
#include "core/measure/summary.hpp"
#include "core/model/case_index.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/json/result_json.hpp"

namespace memsweep::app {
namespace {

constexpr std::uint64_t max_journal_bytes = 1ULL << 30;

// Whether the file is absent, empty or a journal: what something else wrote under its name stays as it is, and so does
// what somebody else may have planted there.
bool is_free_or_journal(const std::string& path)
{
    if (!sys::find_output_target(path)) {
        return false;
    }
    const sys::UniqueFd file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    if (!file.valid()) {
        return errno == ENOENT;
    }
    std::array<char, 64> start{};
    const ssize_t got = ::read(file.get(), start.data(), start.size());  // fails on a folder; 0 on a pipe
    if (got < 0) {
        return false;
    }
    struct stat facts {};
    std::string_view text{start.data(), static_cast<std::size_t>(got)};
    const bool is_file = ::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode);
    return is_file && (text.empty() || (base::parse_number(base::take_until(text, ' ')) &&
                                        text.find("\"memsweep-result\"") != std::string_view::npos));
}

// Those of one repetition, which stand at the end.
template <typename Part>
std::vector<Part> last_parts(const std::vector<Part>& all, std::uint32_t repetition)
{
    const auto others =
        std::find_if(all.rbegin(), all.rend(), [&](const Part& part) { return part.repetition != repetition; });
    std::vector<Part> last{others.base(), all.end()};
    for (Part& part : last) {
        part.repetition = 0;
    }
    return last;
}

model::CaseReport last_repetition(const model::CaseReport& whole)
{
    const std::uint32_t number = whole.repetitions - 1;
    model::CaseReport one;
    one.id = whole.id;
    one.scenario = whole.scenario;
    one.params = whole.params;
    one.release = whole.release;
    one.repetitions = 1;
    one.operation = whole.operation;
    one.points = last_parts(whole.points, number);
    one.phases = last_parts(whole.phases, number);
    one.series = last_parts(whole.series, number);
    one.defects = last_parts(whole.defects, number);
    one.call_times = whole.call_times;
    one.allocator = whole.allocator;
    one.trims = whole.trims;
    one.facts = whole.facts;
    one.names = whole.names;
    for (const model::Metric& metric : whole.metrics) {
        model::Metric& last = one.metrics.emplace_back();
        last.name = metric.name;
        last.unit = metric.unit;
        last.better = metric.better;
        last.metric_class = metric.metric_class;
        last.provenance = metric.provenance;
        last.values = {number < metric.values.size() ? metric.values[number] : std::nullopt};
        last.reason = metric.reason;
    }
    return one;
}

// "NUMBER RESULT": a result of one case and one repetition.
std::string line_of(const model::RunReport& report, const model::CaseReport& one)
{
    model::RunReport small;
    small.tool = report.tool;
    small.run.id = report.run.id;
    small.cases = {last_repetition(one)};
    std::string line =
        fmt::format("{} {}", one.repetitions - 1, reporters::to_json(small, reporters::Summaries::as_they_are));
    std::ranges::replace(line, '\n', ' ');  // none stands within a text
    line.back() = '\n';
    return line;
}

// One that the case has already, or that does not follow on what it has, is left out.
void take_over(model::CaseReport& into, model::CaseReport added, std::uint64_t number)
{
    const std::uint32_t planned = into.planned_repetitions;
    if (number != into.repetitions || !measure::append_repetitions(into, added)) {
        return;
    }
    into.planned_repetitions = planned;
    into.call_times = std::move(added.call_times);
    into.allocator = std::move(added.allocator);
    into.facts = std::move(added.facts);
    into.names = added.names;
}

void take_over_line(std::string_view line, const model::CaseIndex<>& index, model::RunReport& report)
{
    const auto number = base::parse_number(base::take_until(line, ' '));
    auto small = reporters::read_json(line, "journal");
    if (!number || !small || small->run.id != report.run.id || small->cases.size() != 1) {
        return;
    }
    if (const auto position = index.position(small->cases.front().id)) {
        take_over(report.cases[*position], std::move(small->cases.front()), *number);
    }
}

}  // namespace

std::string journal_path(const std::string& result_path)
{
    return result_path + ".journal";
}

base::Expected<void> append_to_journal(const std::string& result_path, const model::RunReport& report,
                                       const model::CaseReport& one)
{
    const std::string path = journal_path(result_path);
    if (!is_free_or_journal(path)) {
        return base::fail(base::ErrorCode::io, "not a journal of memsweep's", path);
    }
    const sys::UniqueFd file = MEMSWEEP_TRY(sys::open_output(path, sys::Start::at_its_end));
    const int problem = sys::write_all(file.get(), line_of(report, one));
    return problem == 0 ? base::Expected<void>{} : base::fail(sys::io_error("cannot write", problem, path));
}

void remove_journal(const std::string& result_path)
{
    if (const std::string path = journal_path(result_path); is_free_or_journal(path)) {
        ::unlink(path.c_str());
    }
}

void take_over_journal(const std::string& result_path, model::RunReport& report)
{
    const std::string path = journal_path(result_path);
    if (!is_free_or_journal(path)) {
        return;
    }
    const auto text = sys::read_file(path, max_journal_bytes);
    std::string_view rest = text ? std::string_view{*text} : std::string_view{};
    if (rest.empty()) {
        return;
    }
    const model::CaseIndex index{report.cases};
    while (!rest.empty()) {
        take_over_line(base::take_until(rest, '\n'), index, report);
    }
    // Once, not for every line: a journal of one case has as many lines as repetitions.
    for (model::CaseReport& one : report.cases) {
        for (model::Metric& metric : one.metrics) {
            metric.summary = measure::summarize(metric.values);
        }
    }
}

}  // namespace memsweep::app
