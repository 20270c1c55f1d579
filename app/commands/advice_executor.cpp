#include "app/commands/advice_executor.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/sys/allocator_library.hpp"

namespace memsweep::app {
namespace {

constexpr std::uint32_t most_repeats = 2;
constexpr std::chrono::milliseconds least_patience{1};

}  // namespace

AdviceExecutor::AdviceExecutor(engine::Executor& inner, bool reads_moment, std::function<void(const std::string&)> note,
                               std::function<std::chrono::nanoseconds()> patience)
    : inner_{inner}, reads_moment_{reads_moment}, note_{std::move(note)}, patience_{std::move(patience)}
{
}

engine::Attempt AdviceExecutor::run(const engine::CompiledCase& compiled, const engine::RunLimits& limits,
                                    const std::function<void(int pid)>& started)
{
    last_ = AdviceFault::none;
    engine::RunLimits in_time = limits;
    in_time.timeout = std::min(limits.timeout, std::max<std::chrono::nanoseconds>(patience_(), least_patience));
    engine::Attempt attempt = inner_.run(compiled, in_time, started);
    const auto may_repeat = [&] {
        return is_unread(attempt) && patience_() >= std::chrono::nanoseconds{attempt.command().wall_ns};
    };
    for (std::uint32_t repeats = 0; repeats < most_repeats && may_repeat(); ++repeats) {
        ++repeats_;
        attempt = inner_.run(compiled, in_time, started);
    }
    if (attempt.ending == engine::Ending::finished) {
        attempt.reason = objection(compiled, attempt.command());
        attempt.ending = attempt.reason.empty() ? engine::Ending::finished : engine::Ending::broken;
    } else if (attempt.ending != engine::Ending::interrupted) {
        last_ = AdviceFault::failed;
    }
    if (auto* measured = std::get_if<engine::CommandRecord>(&attempt.measured)) {
        measured->checksum.clear();  // which is judged here
    }
    return attempt;
}

// It ended well, and nobody was there in time to look at it.
bool AdviceExecutor::is_unread(const engine::Attempt& attempt) const
{
    return reads_moment_ && attempt.ending == engine::Ending::finished &&
           attempt.command().at_end.working_set_bytes == 0;
}

// Why a run that has finished counts for nothing; empty: it counts.
std::string AdviceExecutor::objection(const engine::CompiledCase& compiled, engine::CommandRecord& measured)
{
    const engine::Moment& moment = measured.at_end;
    if (reads_moment_ && moment.working_set_bytes == 0) {
        last_ = AdviceFault::failed;
        return fmt::format("its memory at the end was not read: {}; --want rss@peak needs none of that",
                           moment.why_none);
    }
    if (is_as_it_is()) {
        moment_ = moment.working_set_bytes != 0 ? moment : moment_;
        varies_ = varies_ || (!checksum_.empty() && checksum_ != measured.checksum);
        checksum_ = measured.checksum;
        return {};
    }
    const std::string& library = compiled.allocator.library;
    const bool is_mapped =
        library.empty() || moment.files.empty() ||
        std::ranges::any_of(moment.files, [&](const std::string& file) { return sys::is_same_file(file, library); });
    if (!is_mapped) {
        last_ = AdviceFault::inert;
        return fmt::format("{} is not mapped in the program: the preload does not reach it", library);
    }
    if (!varies_ && measured.checksum != checksum_) {
        last_ = AdviceFault::unsafe;
        return fmt::format("prints something else ({}) than as it is ({})", measured.checksum, checksum_);
    }
    return {};
}

void AdviceExecutor::repetition_started(const engine::RepetitionStart& start)
{
    running_ = start.case_id;
    note_(running_);
}

void AdviceExecutor::repetition_ended(const engine::RepetitionStart& start, const engine::Attempt& /*attempt*/,
                                      const model::RunReport& /*report*/)
{
    if (last_ != AdviceFault::none) {
        faults_[std::string{start.case_id}] = last_;
    }
}

AdviceFault AdviceExecutor::fault_of(const std::string& case_id) const
{
    const auto found = faults_.find(case_id);
    return found == faults_.end() ? AdviceFault::none : found->second;
}

}  // namespace memsweep::app
