#include "app/commands/end_snapshot.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

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

// What the recorder has left of its try, in lines; empty: there was none.
std::string answer_of(const std::string& folder, pid_t process)
{
    return sys::read_word(fmt::format("{}/{}.0{}", folder, process, trace::given_back_ending));
}

}  // namespace

base::Expected<trace::RecordedImage> recorded_image(const std::string& folder, pid_t process,
                                                    std::vector<trace::RecordedImage>& images)
{
    std::optional<trace::RecordedImage> last;
    for (const auto& path : MEMSWEEP_TRY(entries_of(folder))) {
        if (path.extension() != trace::recording_ending) {
            continue;
        }
        if (auto image = MEMSWEEP_TRY(image_at(path.string()))) {
            const bool is_ours = image->facts.process == static_cast<std::uint32_t>(process);
            if (is_ours && (!last || last->facts.start_nanoseconds < image->facts.start_nanoseconds)) {
                last = *image;
            }
            images.push_back(*std::move(image));
        }
    }
    if (!last) {
        return base::fail(base::ErrorCode::not_supported,
                          "nothing was recorded: the program did not load the recorder, or may not write beside it");
    }
    return *std::move(last);
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

OtherProcesses other_processes(const std::string& folder, pid_t process)
{
    OtherProcesses others{.are_running = !sys::descendants_of(process).empty()};
    const std::string text = answer_of(folder, process);
    std::string_view rest = text;
    static_cast<void>(base::take_until(rest, '\n'));
    if (base::take_until(rest, ' ') == trace::given_back_children) {
        others.page_faults = base::parse_number(base::take_until(rest, ' ')).value_or(0);
        others.peak_bytes = base::parse_number(rest).value_or(0) << 10U;
    } else if (const auto stat = sys::read_process_stat(fmt::format("/proc/{}/", process))) {
        others.page_faults = stat->children_minor_faults + stat->children_major_faults;
    }
    return others;
}

measure::TriedRequest tried_request(const std::string& folder, pid_t process)
{
    measure::TriedRequest tried;
    const std::string text = answer_of(folder, process);
    std::string_view rest = std::string_view{text}.substr(0, text.find('\n'));
    const std::string_view word = base::take_until(rest, ' ');
    if (word.empty()) {
        tried.why_not = "the program did not end by exit()";
    } else if (word == trace::given_back_refused) {
        tried.why_not =
            fmt::format("no copy of the program could be made: {}",
                        std::generic_category().message(static_cast<int>(base::parse_number(rest).value_or(0))));
    } else if (word == trace::given_back_late) {
        tried.why_not = "the copy of the program that was to try it was not done in time";
    } else {
        const std::uint64_t before = base::parse_number(base::take_until(rest, ' ')).value_or(0);
        const std::uint64_t after = base::parse_number(rest).value_or(0);
        tried.request = word;
        tried.returned = before - std::min(before, after);
    }
    return tried;
}

}  // namespace memsweep::app
