// check_cuts TRACE FILE N CUTS [kill] -- COMMAND...: runs COMMAND, which records recorded_cuts into TRACE with FILE
// and N; stops it CUTS times at random moments, takes an exact cut each time, and lets it go on, or at last kills it.
// Then each cut of the trace is held against what the program had counted of itself, thread by thread: the log may be
// ahead by the one call that was in flight. Prints how many threads and calls were compared; exit code 1 where one
// differs.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/trace/exact_cut.hpp"
#include "core/trace/trace_reader.hpp"
#include "tests/recorded/counting_threads.hpp"

namespace {

using namespace memsweep;
namespace fs = std::filesystem;

struct Calls {
    std::int64_t allocations{};
    std::int64_t reallocations{};
    std::int64_t frees{};
};

struct Moment {
    trace::ExactCut cut;
    std::map<std::uint32_t, Calls> counted;  // by thread
};

[[noreturn]] void fail(const std::string& what)
{
    fmt::print(stderr, "check_cuts: {}\n", what);
    std::exit(2);
}

tests::SharedCounts* mapped_counts(const char* path)
{
    const int file = ::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ::ftruncate(file, sizeof(tests::SharedCounts)) != 0) {
        fail("no file to count in");
    }
    void* const at = ::mmap(nullptr, sizeof(tests::SharedCounts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? nullptr : static_cast<tests::SharedCounts*>(at);
}

bool is_stopped(const fs::path& task)
{
    std::ifstream file{task / "stat"};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    const std::size_t name_end = text.rfind(')');
    return name_end == std::string::npos || text.substr(name_end + 2, 1) == "T";
}

// Until all of its threads stand.
void stop(std::uint32_t process)
{
    ::kill(static_cast<pid_t>(process), SIGSTOP);
    const fs::path tasks = fmt::format("/proc/{}/task", process);
    for (bool stands = false; !stands;) {
        std::this_thread::sleep_for(std::chrono::microseconds{200});
        stands = true;
        for (const auto& task : fs::directory_iterator{tasks}) {
            stands = stands && is_stopped(task.path());
        }
    }
}

trace::ExactCut cut_of(const fs::path& folder)
{
    trace::ExactCut cut;
    for (const auto& entry : fs::directory_iterator{folder}) {
        const std::string path = entry.path().string();
        if (entry.path().extension() != trace::recording_ending) {
            continue;
        }
        const auto image = trace::find_image([path] { return trace::open_part_of_recording(path); }, path);
        if (!image || !*image || !trace::add_to_cut(**image, cut)) {
            fail(path + " cannot be read");
        }
    }
    return cut;
}

Moment moment_at(const fs::path& folder, const tests::SharedCounts& shared)
{
    Moment moment{cut_of(folder), {}};
    for (const tests::ThreadCounts& thread : shared.threads) {
        if (thread.thread != 0) {
            moment.counted[thread.thread] = {static_cast<std::int64_t>(thread.allocations.load()),
                                             static_cast<std::int64_t>(thread.reallocations.load()),
                                             static_cast<std::int64_t>(thread.frees.load())};
        }
    }
    return moment;
}

// Of each thread, from its refused allocation on.
std::map<std::uint32_t, Calls> recorded_until(trace::TraceReader& reader, const trace::ExactCut& cut)
{
    reader.read_until(cut);
    std::map<std::uint32_t, Calls> found;
    trace::Event event;
    while (reader.next(event)) {
        if (event.kind == trace::EventKind::failed_alloc) {
            found[event.thread] = {};
            continue;
        }
        const auto calls = found.find(event.thread);
        if (calls != found.end()) {
            calls->second.allocations += trace::is_allocation(event.kind) ? 1 : 0;
            calls->second.reallocations += event.kind == trace::EventKind::realloc ? 1 : 0;
            calls->second.frees += event.kind == trace::EventKind::free ? 1 : 0;
        }
    }
    return found;
}

bool is_exact(const Calls& recorded, const Calls& counted)
{
    const std::array ahead{recorded.allocations - counted.allocations, recorded.reallocations - counted.reallocations,
                           recorded.frees - counted.frees};
    const std::int64_t all = ahead[0] + ahead[1] + ahead[2];
    return ahead[0] >= 0 && ahead[1] >= 0 && ahead[2] >= 0 && all <= 1;
}

int compare(const char* path, const std::vector<Moment>& moments)
{
    auto reader = trace::TraceReader::open(path);
    if (!reader) {
        fail(reader.error().message);
    }
    std::int64_t threads = 0;
    std::int64_t calls = 0;
    std::int64_t in_flight = 0;
    int wrong = 0;
    for (const Moment& moment : moments) {
        auto recorded = recorded_until(*reader, moment.cut);
        for (const auto& [thread, counted] : moment.counted) {
            const Calls& found = recorded[thread];
            const std::int64_t all = counted.allocations + counted.reallocations + counted.frees;
            ++threads;
            calls += all;
            in_flight += found.allocations + found.reallocations + found.frees - all;
            if (!is_exact(found, counted)) {
                ++wrong;
                fmt::print("thread {}: recorded {} {} {}, counted {} {} {}\n", thread, found.allocations,
                           found.reallocations, found.frees, counted.allocations, counted.reallocations, counted.frees);
            }
        }
    }
    fmt::print("moments {} threads {} calls {} in_flight {} wrong {}\n", moments.size(), threads, calls, in_flight,
               wrong);
    return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words)
{
    const bool kills = count > 5 && std::string{words[5]} == "kill";
    const int command = kills ? 7 : 6;
    if (count <= command || std::string{words[command - 1]} != "--") {
        fail("check_cuts TRACE FILE N CUTS [kill] -- COMMAND...");
    }
    tests::SharedCounts* const shared = mapped_counts(words[2]);
    const auto threads = std::strtoul(words[3], nullptr, 10);
    const auto cuts = std::strtoul(words[4], nullptr, 10);
    const pid_t child = ::fork();
    if (child == 0) {
        ::execvp(words[command], words + command);
        ::_exit(127);
    }
    int status = 0;
    while (shared->running < std::max<unsigned long>(threads, 1)) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
        if (::waitpid(child, &status, WNOHANG) == child) {
            fail("the command has ended before its program ran");
        }
    }
    std::mt19937 random{std::random_device{}()};
    std::vector<Moment> moments;
    for (std::size_t i = 0; i < cuts; ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 20'000});
        stop(shared->process);
        moments.push_back(moment_at(std::string{words[1]} + ".recording", *shared));
        if (!kills || i + 1 < cuts) {
            ::kill(static_cast<pid_t>(shared->process), SIGCONT);
        }
    }
    if (kills) {
        ::kill(static_cast<pid_t>(shared->process), SIGKILL);
    }
    shared->may_end = true;
    ::waitpid(child, &status, 0);
    return compare(words[1], moments);
}
