#include "app/fleet_merging.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "app/read_result.hpp"
#include "core/base/host_list.hpp"
#include "core/sys/proc_text.hpp"
#include "core/sys/read_file.hpp"

namespace memsweep::app {
namespace {

constexpr std::uint64_t largest_table_bytes = 64ULL << 20;
constexpr std::size_t results_per_processor = 16;

std::vector<std::string> fields_of(std::string_view line)
{
    std::vector<std::string> fields;
    while (true) {
        const std::size_t comma = std::min(line.find(','), line.size());
        fields.emplace_back(sys::trimmed(line.substr(0, comma)));
        if (comma == line.size()) {
            return fields;
        }
        line.remove_prefix(comma + 1);
    }
}

}  // namespace

void read_results(const std::vector<std::string>& paths, const TakeResult& take)
{
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t batch = processors * results_per_processor;
    for (std::size_t first = 0; first < paths.size(); first += batch) {
        const std::size_t count = std::min(batch, paths.size() - first);
        std::vector<std::optional<base::Expected<model::RunReport>>> results(count);
        std::atomic<std::size_t> next{0};
        const auto work = [&] {
            for (std::size_t i = next++; i < count; i = next++) {
                results[i] = read_result(paths[first + i]);
            }
        };
        {
            std::vector<std::jthread> helpers;
            for (std::size_t i = 1; i < std::min(processors, count); ++i) {
                helpers.emplace_back(work);
            }
            work();
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (!take(paths[first + i], *std::exchange(results[i], std::nullopt))) {
                return;
            }
        }
    }
}

base::Expected<HostTags> read_host_tags(const std::string& path)
{
    const auto text = sys::read_file(path, largest_table_bytes);
    if (!text) {
        return base::fail(text.error());
    }
    std::string_view rest = *text;
    const std::vector<std::string> names = fields_of(sys::take_line(rest));
    if (names.size() < 2 || names.front() != "host") {
        return base::fail(base::ErrorCode::invalid_input,
                          "the first line must name the columns, the first of them \"host\": host,rack,switch",
                          path + ":1");
    }
    HostTags tags;
    for (std::size_t number = 2; !rest.empty(); ++number) {
        const std::string_view line = sys::trimmed(sys::take_line(rest));
        if (line.empty()) {
            continue;
        }
        const std::vector<std::string> fields = fields_of(line);
        if (fields.size() != names.size() || fields.front().empty()) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("{} fields where the first line names {}", fields.size(), names.size()),
                              fmt::format("{}:{}", path, number));
        }
        for (std::size_t i = 1; i < fields.size(); ++i) {
            if (!fields[i].empty()) {
                tags[fields.front()][names[i]] = fields[i];
            }
        }
    }
    return tags;
}

base::Expected<measure::Expectation> parse_expectation(const std::string& text)
{
    measure::Expectation expectation;
    if (text.empty()) {
        return expectation;
    }
    if (text.find_first_not_of("0123456789") == std::string::npos) {
        const auto count = sys::parse_count(text);
        if (!count || *count == 0) {
            return base::fail(base::ErrorCode::invalid_input, fmt::format("\"{}\" is no number of hosts", text),
                              "--expect");
        }
        expectation.hosts = *count;
        return expectation;
    }
    auto names = base::expand_host_list(text);
    if (!names) {
        return base::fail(base::ErrorCode::invalid_input, names.error().message, "--expect");
    }
    expectation.names = *std::move(names);
    return expectation;
}

}  // namespace memsweep::app
