#include "app/commands/snapshots.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/sys/file_text.hpp"
#include "core/sys/output_file.hpp"
#include "core/trace/trace_file.hpp"

namespace memsweep::app {
namespace {

base::Expected<void> write_snapshot(const std::string& folder, const trace::Snapshot& snapshot, std::uint64_t number)
{
    std::string bytes;
    MEMSWEEP_TRY(trace::put_snapshot(
        [&bytes](std::string_view piece) -> base::Expected<void> {
            bytes += piece;
            return {};
        },
        snapshot, number));
    const std::string path = fmt::format("{}/{}{}", folder, number, snapshot_ending);
    auto file = sys::TempFile::create_in(folder);
    int problem = file ? file->write(bytes) : errno;
    problem = problem == 0 ? file->commit_as(path) : problem;
    return problem == 0 ? base::Expected<void>{} : base::fail(sys::io_error("cannot write", problem, path));
}

}  // namespace

sys::ProgramStops SnapshotsMeanwhile::stops(std::chrono::nanoseconds pause)
{
    due_ = Clock::now() + choice_.every;
    sys::ProgramStops stops{.at_end = [this](const sys::StoppedEnd& end) {
        if (choice_.at_end) {
            take(end.process, end.thread, trace::SnapshotAt::end, end.since);
        }
    }};
    stops.meanwhile = [this](pid_t /*process*/) {
        write_waiting();
        return choice_.every.count() != 0 && Clock::now() >= due_;
    };
    stops.at_asked = [this](const sys::StoppedMoment& moment) {
        take(moment.process, moment.thread, trace::SnapshotAt::time, moment.since);
        due_ = std::max(due_ + choice_.every, Clock::now());
    };
    stops.pause = choice_.every.count() == 0 ? pause : std::min(pause, choice_.every);
    return stops;
}

void SnapshotsMeanwhile::take(pid_t process, pid_t thread, trace::SnapshotAt at, Clock::time_point since)
{
    write_waiting();
    auto snapshot = take_snapshot(recorded_, process, thread, at);
    if (!snapshot) {
        ++lost_;
        problem_ = problem_ ? problem_ : snapshot.error();
        return;
    }
    snapshot->stopped_nanoseconds =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - since).count());
    waiting_ = *std::move(snapshot);
}

void SnapshotsMeanwhile::write_waiting()
{
    const auto snapshot = std::exchange(waiting_, std::nullopt);
    if (!snapshot) {
        return;
    }
    if (const auto written = write_snapshot(recorded_.folder, *snapshot, number_); !written) {
        ++lost_;
        problem_ = problem_ ? problem_ : written.error();
    }
    ++number_;
}

base::Expected<void> put_snapshots(const std::vector<std::string>& files, const trace::TakeBytes& take)
{
    for (const std::string& path : files) {
        const auto opened = trace::open_part_of_recording(path);
        if (!opened) {
            continue;  // what else was recorded is worth more
        }
        const trace::ReadAt& read = *opened;
        std::vector<std::uint8_t> payload;
        std::vector<std::uint8_t> bytes;
        std::uint64_t offset = 0;
        while (const auto chunk = trace::TraceFile::whole_chunk_at(read, offset, payload)) {
            if (chunk->header.kind != trace::ChunkKind::snapshot) {
                break;
            }
            bytes.resize(chunk->header.span_bytes);
            const auto got = read(offset, bytes);
            if (!got) {
                break;
            }
            MEMSWEEP_TRY(take({reinterpret_cast<const char*>(bytes.data()), *got}));
            offset += chunk->header.span_bytes;
        }
    }
    return {};
}

}  // namespace memsweep::app
