#include "app/commands/snapshots.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/commands/recording_folder.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/output_file.hpp"
#include "core/trace/end_mark.hpp"
#include "core/trace/trace_file.hpp"

namespace memsweep::app {
namespace {

using PutChunks = std::function<base::Expected<void>(const trace::TakeBytes& take)>;

base::Expected<void> keep_chunks(const std::string& folder, const std::string& name, const PutChunks& put)
{
    std::string bytes;
    MEMSWEEP_TRY(put([&bytes](std::string_view piece) -> base::Expected<void> {
        bytes += piece;
        return {};
    }));
    const std::string path = folder + "/" + name;
    auto file = sys::TempFile::create_in(folder);
    int problem = file ? file->write(bytes) : errno;
    problem = problem == 0 ? file->commit_as(path) : problem;
    return problem == 0 ? base::Expected<void>{} : base::fail(sys::io_error("cannot write", problem, path));
}

base::Expected<void> write_snapshot(const std::string& folder, const trace::Snapshot& snapshot, std::uint64_t number)
{
    return keep_chunks(folder, std::to_string(number) + snapshot_ending,
                       [&](const trace::TakeBytes& take) { return trace::put_snapshot(take, snapshot, number); });
}

}  // namespace

base::Expected<void> mark_end_of_work(const std::string& folder, const std::string& sign)
{
    const std::vector<trace::RecordedImage> images = MEMSWEEP_TRY(recorded_images(folder));
    const trace::EndMark mark = MEMSWEEP_TRY(trace::end_mark_of(images, is_running, sign));
    return keep_chunks(folder, std::string{"end"} + mark_ending,
                       [&](const trace::TakeBytes& take) { return trace::put_end_mark(take, mark); });
}

sys::ProgramStops SnapshotsMeanwhile::stops(std::chrono::nanoseconds pause)
{
    due_ = Clock::now() + choice_.every;
    sys::ProgramStops stops{.at_end = [this](const sys::StoppedEnd& end) {
        if (choice_.at_end && !has_end_) {
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

void SnapshotsMeanwhile::take_end(const sys::StoppedMoment& moment)
{
    if (choice_.at_end && !std::exchange(has_end_, true)) {
        take(moment.process, moment.thread, trace::SnapshotAt::end, moment.since);
    }
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
            if (chunk->header.kind != trace::ChunkKind::snapshot && chunk->header.kind != trace::ChunkKind::end_mark) {
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
