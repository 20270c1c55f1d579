#include "app/commands/result_file.hpp"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "app/cli/messages.hpp"
#include "core/sys/output_file.hpp"
#include "reporters/json/result_json.hpp"

namespace memsweep::app {
namespace {

base::Expected<void> write_json_file(const std::string& path, const model::RunReport& report)
{
    return sys::write_file_atomically(path, [&](const sys::PieceTaker& take) {
        reporters::TextSink sink{take};
        reporters::write_json(report, sink);
        static_cast<void>(sink.finish());
    });
}

}  // namespace

ResultFile::ResultFile(std::string path, const sys::Clock& clock) : path_{std::move(path)}, clock_{clock}
{
    const auto target = sys::find_output_target(path_);
    stream_ = path_ == "-" || (target && !target->replaceable());
    replaces_earlier_ = !stream_ && target && target->existing;
}

void ResultFile::repetition_ended(const engine::RepetitionStart& start, const engine::Outcome& /*outcome*/,
                                  const model::RunReport& report)
{
    constexpr int largest_share = 5;
    if (!stream_ && !start.warmup && clock_.now() - last_write_ >= write_cost_ * largest_share) {
        static_cast<void>(save(report));
    }
}

void ResultFile::case_ended(const model::CaseReport& ended, const model::RunReport& report)
{
    if (ended.status == model::Status::skipped) {
        return;  // nothing was measured that an earlier result should make room for
    }
    replaces_earlier_ = false;
    if (!stream_) {
        static_cast<void>(save(report));
    }
}

bool ResultFile::save(const model::RunReport& report)
{
    const std::string target = replaces_earlier_ ? partial_path(path_) : path_;
    const auto begin = clock_.now();
    const auto written = write_json_file(target, report);
    last_write_ = clock_.now();
    write_cost_ = last_write_ - begin;
    if (!written) {
        if (!std::exchange(complained_, true)) {
            print_error(written.error());
        }
        return false;
    }
    if (replaces_earlier_) {
        partial_written_ = true;
    } else if (std::exchange(partial_written_, false)) {
        unlink(partial_path(path_).c_str());
    }
    return true;
}

std::optional<std::string> ResultFile::finish(const model::RunReport& report)
{
    if (path_ == "-") {
        reporters::TextSink sink{print_data};
        reporters::write_json(report, sink);
        return sink.finish() ? std::optional{path_} : std::nullopt;
    }
    complained_ = false;
    replaces_earlier_ = replaces_earlier_ && report.run.interrupted;
    if (save(report)) {
        return replaces_earlier_ ? partial_path(path_) : path_;
    }
    const char* folder = std::getenv("TMPDIR");
    const std::string refuge = fmt::format("{}/memsweep-{}.json", folder != nullptr ? folder : "/tmp", report.run.id);
    if (write_json_file(refuge, report)) {
        print_note(fmt::format("the result was saved as {} instead", refuge));
    }
    return std::nullopt;
}

}  // namespace memsweep::app
