#include "app/commands/end_snapshot.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "app/commands/recording_folder.hpp"
#include "core/base/text.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/process_probe.hpp"
#include "core/sys/process_stat.hpp"
#include "core/trace/format/given_back.hpp"

namespace memsweep::app {
namespace {

bool is_all_zero(const std::vector<char>& bytes)
{
    return bytes.empty() || (bytes.front() == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// The file of the last program that the process has become.
base::Expected<trace::RecordedImage> last_image(const std::string& folder, pid_t process)
{
    std::optional<trace::RecordedImage> last;
    for (unsigned number = 0;; ++number) {
        const std::string path = fmt::format("{}/{}.{}{}", folder, process, number, trace::recording_ending);
        if (::access(path.c_str(), F_OK) != 0) {
            break;
        }
        if (auto image = MEMSWEEP_TRY(image_at(path))) {
            last = std::move(image);
        }
    }
    if (!last) {
        return base::fail(base::ErrorCode::not_supported,
                          "nothing was recorded: the program did not load the recorder, or may not write beside it");
    }
    return *std::move(last);
}

// What is left of the try, in lines; empty: there was none.
std::string answer_of(const std::string& folder, pid_t process)
{
    const auto text = sys::read_kernel_text(fmt::format("{}/{}.0{}", folder, process, trace::given_back_ending));
    return text ? *text : std::string{};
}

}  // namespace

base::Expected<trace::Snapshot> take_snapshot(const RecordedBy& recorded, pid_t process, pid_t thread,
                                              trace::SnapshotAt at)
{
    trace::Snapshot snapshot{.at = at};
    const trace::RecordedImage image = MEMSWEEP_TRY(last_image(recorded.folder, process));
    MEMSWEEP_TRY(trace::add_to_cut(image, snapshot.cut));
    snapshot.space = MEMSWEEP_TRY(sys::read_address_space(thread));
    const trace::ImageFacts& facts = image.facts;
    snapshot.process = trace::number_in_trace(facts);
    snapshot.start_ticks = facts.start_ticks;
    snapshot.has_own_malloc = facts.foreign_malloc != 0;
    snapshot.has_lost_events = facts.lost_events != 0 || facts.stopped_errno != 0;
    snapshot.served_by.assign(facts.served_by, ::strnlen(facts.served_by, sizeof facts.served_by));
    snapshot.recorder_library = recorded.library;
    snapshot.recorder_folder = recorded.folder;
    return snapshot;
}

base::Expected<std::vector<trace::RecordedImage>> recorded_images(const std::string& folder)
{
    std::vector<trace::RecordedImage> images;
    for (const auto& path : MEMSWEEP_TRY(entries_of(folder))) {
        if (path.extension() != trace::recording_ending) {
            continue;
        }
        if (auto image = MEMSWEEP_TRY(image_at(path.string()))) {
            images.push_back(*std::move(image));
        }
    }
    return images;
}

std::vector<measure::AddressRange> zero_parts_of(const sys::AddressSpace& space, const sys::ForeignMemory& memory)
{
    std::vector<measure::AddressRange> parts;
    std::vector<char> page(sys::page_size());
    for (const sys::PageRun& run : space.pages) {
        if (!run.is_huge || run.state != sys::PageState::anonymous) {
            continue;
        }
        for (std::uint64_t at = run.begin; at < run.end; at += page.size()) {
            if (memory.read(at, page.data(), page.size()) != page.size() || !is_all_zero(page)) {
                continue;
            }
            if (!parts.empty() && parts.back().end == at) {
                parts.back().end += page.size();
            } else {
                parts.push_back({at, at + page.size()});
            }
        }
    }
    return parts;
}

OtherProcesses other_processes(pid_t process)
{
    OtherProcesses others{.are_running = !sys::descendants_of(process).empty()};
    if (const auto stat = sys::read_process_stat(fmt::format("/proc/{}/", process))) {
        others.page_faults = stat->children_minor_faults + stat->children_major_faults;
    }
    return others;
}

base::Expected<ProgramCopy> ProgramCopy::await(const std::string& folder)
{
    const std::string path = fmt::format("{}/{}", folder, trace::copy_gate);
    if (::mkfifo(path.c_str(), 0600) != 0) {
        return base::fail(base::os_error("cannot be made", errno, path));
    }
    sys::UniqueFd gate{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
    if (!gate.valid()) {
        return base::fail(base::os_error("cannot be opened", errno, path));
    }
    return ProgramCopy{folder, std::move(gate)};
}

ProgramCopy::~ProgramCopy()
{
    if (copy_ != 0) {
        ::kill(copy_, SIGKILL);
        ::waitpid(copy_, nullptr, __WALL);
        ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    }
}

void ProgramCopy::take(pid_t process, pid_t copy)
{
    process_ = process;
    copy_ = copy;
    if (auto memory = sys::ForeignMemory::open(copy)) {
        memory_.emplace(*std::move(memory));
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

// False: it takes too long.
bool ProgramCopy::wait_for_end() const
{
    constexpr int most_looks = 10'000;
    constexpr timespec pause{0, 1'000'000};
    for (int looks = 0; looks < most_looks; ++looks) {
        const pid_t ended = ::waitpid(copy_, nullptr, WNOHANG | __WALL);
        const bool is_anothers = ended < 0 && errno == ECHILD && ::kill(copy_, 0) == 0;  // child, who waits for it
        if (ended != 0 && !is_anothers && !(ended < 0 && errno == EINTR)) {
            return true;
        }
        ::nanosleep(&pause, nullptr);
    }
    return false;
}

CopyAnswer ProgramCopy::ask(pid_t process)
{
    CopyAnswer answer;
    const bool was_there = is_there();
    if (was_there && sys::retry_interrupted([&] { return ::write(gate_.get(), "g", 1); }) == 1 && wait_for_end()) {
        copy_ = 0;
        ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    }
    const std::string text = answer_of(folder_, process);
    std::string_view rest = text;
    std::string_view first = sys::take_line(rest);
    const std::string_view word = base::take_until(first, ' ');
    if (is_there()) {
        answer.tried.why_not = "the copy of the program that was to try it was not done in time";
    } else if (word.empty()) {
        answer.tried.why_not =
            was_there ? "the copy of the program that was to try it ended before" : "the program did not end by exit()";
    } else if (word == trace::given_back_refused) {
        answer.tried.why_not =
            fmt::format("no copy of the program could be made: {}",
                        std::generic_category().message(static_cast<int>(base::parse_number(first).value_or(0))));
    } else {
        const std::uint64_t before = base::parse_number(base::take_until(first, ' ')).value_or(0);
        const std::uint64_t after = base::parse_number(first).value_or(0);
        answer.tried.request = word;
        answer.tried.returned = before - std::min(before, after);
    }
    while (!rest.empty()) {
        std::string_view line = sys::take_line(rest);
        const std::string_view key = base::take_until(line, ' ');
        const std::string name{base::take_until(line, ' ')};
        if (key == trace::given_back_children) {
            constexpr unsigned to_kib = 10;
            answer.children_peak_bytes = base::parse_number(line).value_or(0) << to_kib;
        } else if (key == trace::given_back_says) {
            answer.figures.emplace_back(name, base::parse_number(line).value_or(0));
        }
    }
    return answer;
}

}  // namespace memsweep::app
