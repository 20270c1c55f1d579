#include "app/commands/remembered_runs.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include <unistd.h>

#include <fmt/format.h>

#include "app/cli/console.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/model/allocator_settings.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/document/table.hpp"
#include "reporters/json/json_members.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::app {
namespace {

using reporters::Json;
using reporters::JsonNode;
using reporters::Problem;
using std::chrono::nanoseconds;

constexpr const char* journal_format = "memsweep-advise-runs";
constexpr std::uint64_t journal_version = 1;
constexpr std::uint64_t most_journal_bytes = 256ULL << 20U;

// Of these an ended program is worth remembering: the others say nothing of it.
constexpr std::array<std::pair<std::string_view, engine::Ending>, 4> remembered_endings{
    {{"finished", engine::Ending::finished},
     {"crashed", engine::Ending::crashed},
     {"timed_out", engine::Ending::timed_out},
     {"broken", engine::Ending::broken}}};

std::string_view ending_word(engine::Ending ending)
{
    const auto found =
        std::ranges::find(remembered_endings, ending, &std::pair<std::string_view, engine::Ending>::second);
    return found == remembered_endings.end() ? std::string_view{} : found->first;
}

// What is run, as a text: the allocator and the environment, which are all that a setting changes.
std::string key_of(const engine::CompiledCase& compiled)
{
    const model::AllocatorSpec& allocator = compiled.allocator;
    std::string key = allocator.name + "\n" + allocator.library;
    for (const model::Variables* const variables : {&allocator.environment, &compiled.command().environment}) {
        key += "\n";
        for (const auto& [name, value] : *variables) {
            key.append("\n").append(name).append("=").append(value);
        }
    }
    return key;
}

template <typename Io>
void nanoseconds_member(Io& io, std::string_view key, reporters::PartOf<Io, nanoseconds>& time)
{
    std::int64_t count = time.count();
    io(key, count);
    if constexpr (Io::is_reading) {
        time = nanoseconds{count};
    }
}

template <typename Io>
void members_of_run(Io& io, reporters::PartOf<Io, engine::CommandRecord>& record)
{
    io("wall_ns", record.wall_ns);
    io("cpu_ns", record.cpu_ns);
    nanoseconds_member(io, "user_ns", record.user_time);
    nanoseconds_member(io, "system_ns", record.system_time);
    io("minor_faults", record.minor_faults);
    io("major_faults", record.major_faults);
    io("peak_bytes", record.peak_working_set_bytes);
    io("context_switches", record.context_switches);
    io("read_bytes", record.read_bytes);
    io("written_bytes", record.written_bytes);
    io("left_processes", record.left_processes);
    io("pressure", record.pressure_seconds);
    io("instructions", record.hardware.instructions);
    io("cycles", record.hardware.cycles);
    io("checksum", record.checksum);
    auto& end = record.at_end;
    io.object("end", [&](auto& inner) {
        inner("bytes", end.working_set_bytes);
        inner("anonymous", end.anonymous_bytes);
        inner("threads", end.threads);
        inner("changes_user", end.changes_user);
        inner("files", end.files);
        inner("why_none", end.why_none);
    });
}

Json json_of_run(const engine::CommandRecord& record)
{
    reporters::MemberWriter writer;
    members_of_run(writer, record);
    return writer.take();
}

// Empty where it is null, or has not all members.
std::optional<engine::CommandRecord> run_of_json(const Json* json)
{
    if (json == nullptr || json->is_null()) {
        return std::nullopt;
    }
    Problem problem;
    const JsonNode run{*json, problem};
    engine::CommandRecord record;
    const reporters::MemberReader reader{run};
    members_of_run(reader, record);
    return problem ? std::nullopt : std::optional{std::move(record)};
}

std::optional<Json> parsed(std::string_view line)
{
    reporters::JsonBuilder builder{reporters::most_held(line.size())};
    if (reporters::parse_json(line, builder) || builder.is_too_large()) {
        return std::nullopt;
    }
    return builder.whole();
}

std::string text_in(const Json& json, std::string_view key)
{
    const Json* const member = json.find(key);
    return member == nullptr || member->text() == nullptr ? std::string{} : *member->text();
}

}  // namespace

AdviceIdentity advice_identity(const AdviceQuestion& question, const model::Machine& machine)
{
    const model::CommandSpec& command = *question.plan.cases.front().command();
    std::error_code problem;
    std::string program = reporters::command_line(command.run);
    const std::string path = command.shell ? std::string{} : sys::find_program(command.run.front());
    if (const auto size = std::filesystem::file_size(path, problem); !problem) {
        program += fmt::format(", {} of {} bytes made at {}", path, size,
                               std::filesystem::last_write_time(path, problem).time_since_epoch().count());
    }
    program += fmt::format(", in {}", std::filesystem::current_path(problem).string());
    if (!command.input_contents.empty()) {
        program += ", reads " + command.input_contents;
    }
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        const std::string_view name = text.substr(0, text.find('='));
        if (name == "LD_PRELOAD" || model::sets_an_allocator(name)) {
            program.append(", ").append(text);
        }
    }
    const std::string when =
        question.at == WantedAt::peak ? "rss@peak"
        : question.at == WantedAt::end
            ? "rss@end"
            : fmt::format("rss@idle={}", base::format_duration(sys::seconds_of(question.end.idle)));
    return {.program = reporters::repaired_utf8(program),
            .question = reporters::repaired_utf8(fmt::format(
                "{}, {}<={}x, {}, at most {} a run", when, question.keep, question.at_most,
                model::to_text(question.end), base::format_duration(sys::seconds_of(question.plan.settings.timeout)))),
            .machine = reporters::repaired_utf8(fmt::format("{}, {}", machine.host, machine.fingerprint))};
}

base::Expected<void> RememberedRuns::open(const std::string& path, const AdviceIdentity& identity,
                                          std::chrono::nanoseconds timeout)
{
    timeout_ = timeout;
    std::error_code ignored;
    const bool is_there = std::filesystem::exists(path, ignored);
    if (is_there && !std::filesystem::is_regular_file(path, ignored)) {
        return base::fail(base::ErrorCode::invalid_input, "is no file that runs can be kept in", path);
    }
    const std::string text = is_there ? MEMSWEEP_TRY(sys::read_file(path, most_journal_bytes)) : std::string{};
    if (!text.empty()) {
        if (const auto fits = read(text, identity); !fits) {
            return base::fail(fits.error().code, fits.error().message, path);
        }
    }
    path_ = path;
    if (text.empty()) {
        const Json header{{"format", journal_format},
                          {"format_version", journal_version},
                          {"program", identity.program},
                          {"question", identity.question},
                          {"machine", identity.machine}};
        const sys::UniqueFd file = MEMSWEEP_TRY(sys::open_output(path, sys::Start::anew));
        const int problem = sys::write_all(file.get(), reporters::compact(header) + "\n");
        return problem == 0 ? base::Expected<void>{} : base::fail(sys::io_error("cannot write", problem, path));
    }
    if (!text.ends_with('\n')) {
        append("");  // a line that was cut off is nothing that the next one goes on with
    }
    return {};
}

base::Expected<void> RememberedRuns::read(const std::string& text, const AdviceIdentity& identity)
{
    std::string_view rest = text;
    const auto header = parsed(base::take_until(rest, '\n'));
    if (!header || text_in(*header, "format") != journal_format) {
        return base::fail(base::ErrorCode::invalid_input, "is no file of runs that advise has kept");
    }
    const Json* const version = header->find("format_version");
    if (version == nullptr || version->number() != static_cast<double>(journal_version)) {
        return base::fail(base::ErrorCode::invalid_input, "was written by another version of memsweep");
    }
    for (const auto& [name, now] :
         {std::pair{"program", &identity.program}, {"question", &identity.question}, {"machine", &identity.machine}}) {
        if (const std::string then = text_in(*header, name); then != *now) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("was measured with another {}: \"{}\" there, \"{}\" here; name another file",
                                          name, then, *now));
        }
    }
    while (!rest.empty()) {
        found_ += read_line(base::take_until(rest, '\n')) ? 1U : 0U;
    }
    return {};
}

bool RememberedRuns::read_line(std::string_view line)
{
    const auto json = parsed(line);
    if (!json) {
        return false;
    }
    Problem problem;
    const JsonNode from{*json, problem};
    const nanoseconds took{from.at("took_ns").integer<std::int64_t>()};
    if (from.has("origin")) {
        auto origin = reporters::read_value<std::vector<std::string>>(from.at("origin"));
        if (!problem && origin.size() == 3) {
            origin_ = std::move(origin);
            origin_took_ = took;
        }
        return !origin_.empty();
    }
    Run run{.attempt = {}, .took = took};
    const std::string key = from.at("what").text();
    const std::string word = from.at("ending").text();
    run.attempt.reason = from.at("reason").text();
    const auto ending =
        std::ranges::find(remembered_endings, word, &std::pair<std::string_view, engine::Ending>::first);
    auto record = run_of_json(json->find("run"));
    if (problem || ending == remembered_endings.end() || (!record && ending->second == engine::Ending::finished)) {
        return false;
    }
    run.attempt.ending = ending->second;
    if (record) {
        run.attempt.measured = *std::move(record);
    }
    runs_[key].push_back(std::move(run));
    return true;
}

void RememberedRuns::append(const std::string& line)
{
    const auto file = sys::open_output(path_, sys::Start::at_its_end);
    const int problem = file ? sys::write_all(file->get(), line + "\n") : EIO;
    if (problem != 0) {
        print_note(fmt::format("{}; the runs that follow are not kept",
                               base::describe(file ? sys::io_error("cannot write", problem, path_) : file.error())));
        path_.clear();
    }
}

engine::Attempt RememberedRuns::run(const engine::CompiledCase& compiled, const engine::RunLimits& limits,
                                    const std::function<void(int pid)>& started)
{
    if (path_.empty()) {
        return inner_.run(compiled, limits, started);
    }
    const std::string key = key_of(compiled);
    as_it_is_ = as_it_is_.empty() ? key : as_it_is_;
    if (std::deque<Run>& known = runs_[key]; !known.empty()) {
        const Run run = std::move(known.front());
        known.pop_front();
        clock_.shift += run.took;
        started(0);  // observers are told whose run this is, though no process begins
        return run.attempt;
    }
    const nanoseconds begun = clock_.now();
    engine::Attempt attempt = inner_.run(compiled, limits, started);
    // What keeps the program from running as it is may be mended before the next try.
    const bool was_cut_off = attempt.ending == engine::Ending::timed_out && limits.timeout < timeout_;
    const bool is_kept = !ending_word(attempt.ending).empty() && !was_cut_off &&
                         (key != as_it_is_ || attempt.ending == engine::Ending::finished);
    if (is_kept && !path_.empty()) {
        const auto* const record = std::get_if<engine::CommandRecord>(&attempt.measured);
        append(reporters::compact({{"what", key},
                                   {"took_ns", (clock_.now() - begun).count()},
                                   {"ending", ending_word(attempt.ending)},
                                   {"reason", attempt.reason},
                                   {"run", record == nullptr ? Json{} : json_of_run(*record)}}));
    }
    return attempt;
}

void RememberedRuns::take_origin(reporters::AdvisedProgram& program,
                                 const std::function<bool(reporters::AdvisedProgram& program)>& look)
{
    using reporters::MallocOrigin;
    constexpr std::array origins{MallocOrigin::libc, MallocOrigin::preloaded, MallocOrigin::linked, MallocOrigin::own,
                                 MallocOrigin::unseen};
    if (!origin_.empty()) {
        const auto origin = std::ranges::find(origins, origin_[1], [](MallocOrigin one) { return name_of(one); });
        program.allocator = origin_[0];
        program.origin = origin == origins.end() ? MallocOrigin::unseen : *origin;
        program.unrecorded = origin_[2];
        clock_.shift += origin_took_;
        return;
    }
    const nanoseconds begun = clock_.now();
    const bool is_whole = look(program);
    if (is_whole && !path_.empty() && program.origin != MallocOrigin::unseen) {
        append(reporters::compact(
            {{"origin",
              std::vector<std::string>{program.allocator, std::string{name_of(program.origin)}, program.unrecorded}},
             {"took_ns", (clock_.now() - begun).count()}}));
    }
}

}  // namespace memsweep::app
