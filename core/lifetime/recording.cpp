#include "core/lifetime/recording.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"

namespace memsweep::lifetime {
namespace {

using base::parse_number;
using base::take_until;
using base::trimmed;

constexpr std::string_view command_mark = "# command:";

tl::unexpected<base::Error> no_recording(const std::string& name, std::size_t line, std::string_view why)
{
    return base::fail(base::ErrorCode::invalid_input,
                      fmt::format("no recording: {}; record one with record.py, which is installed with memsweep", why),
                      fmt::format("{}:{}", name, line));
}

std::vector<std::string> words_of(std::string_view text)
{
    constexpr std::size_t most_bytes = 128 << 10;  // Linux takes no longer argument
    std::vector<std::string> words;
    for (text = trimmed(text.substr(0, most_bytes)); !text.empty(); text = trimmed(text)) {
        words.emplace_back(take_until(text, ' '));
    }
    return words;
}

// The places of the columns that are read.
struct Header {
    std::optional<std::size_t> iteration;
    std::optional<std::size_t> unreleased;
    std::array<std::optional<std::size_t>, 3> collections;

    explicit Header(std::string_view line)
    {
        for (std::size_t place = 0; !line.empty(); ++place) {
            const std::string_view title = trimmed(take_until(line, ','));
            if (title == "i") {
                iteration = place;
            } else if (title == "unreleased") {
                unreleased = place;
            } else if (title == "gc0" || title == "gc1" || title == "gc2") {
                collections.at(static_cast<std::size_t>(title.back() - '0')) = place;
            }
        }
    }

    [[nodiscard]] bool is_complete() const { return iteration && unreleased && collections[0]; }
    [[nodiscard]] bool has_generations() const { return collections[1] && collections[2]; }
};

// The number in that column; empty: there is none.
std::optional<std::uint64_t> number_in(std::string_view line, std::optional<std::size_t> column)
{
    for (std::size_t place = 0; column && place < *column && !line.empty(); ++place) {
        static_cast<void>(take_until(line, ','));
    }
    return column ? parse_number(trimmed(take_until(line, ','))) : std::nullopt;
}

// Adds the row, or says what is wrong with it.
std::string_view add_row(Recording& recording, const Header& header, std::string_view line)
{
    const auto iteration = number_in(line, header.iteration);
    const auto unreleased = number_in(line, header.unreleased);
    const auto collections = number_in(line, header.collections[0]);
    if (!iteration || !unreleased || !collections) {
        return "the columns i, unreleased and gc0 hold whole numbers";
    }
    constexpr std::uint64_t most = 1'000'000;  // each is replayed some thousand times
    if (*iteration >= most) {
        return "more than 1,000,000 iterations";
    }
    if (!recording.rows.empty() && *iteration <= recording.rows.back().iteration) {
        return "iterations do not rise";
    }
    if (!recording.rows.empty() && (*collections < recording.rows.back().collections ||
                                    *collections - recording.rows.front().collections > most)) {
        return "gc0 falls, or rises by more than 1,000,000";
    }
    if (header.has_generations()) {
        const auto middle = number_in(line, header.collections[1]);
        recording.counts_major_ones_twice &= middle && middle == number_in(line, header.collections[2]);
    }
    recording.rows.push_back({*iteration, *unreleased, *collections});
    return {};
}

// A JVM's size, as in -Xmx256m.
std::optional<std::uint64_t> jvm_size(std::string_view text)
{
    constexpr std::string_view units = "kmgt";
    std::uint64_t shift = 0;
    if (!text.empty()) {
        const auto lower = static_cast<char>(text.back() | 0x20);
        if (const std::size_t unit = units.find(lower); unit != std::string_view::npos) {
            shift = 10 * (unit + 1);
            text.remove_suffix(1);
        }
    }
    const auto number = parse_number(text);
    constexpr std::uint64_t most = 1ULL << 50U;
    return number && *number <= most >> shift ? std::optional{*number << shift} : std::nullopt;
}

// The options of `java` up to the program that it runs.
class JvmOptions {
  public:
    base::Expected<void> read(const Recording& recording)
    {
        for (const std::string& word : recording.command) {
            if (!read(word)) {
                return base::fail(base::ErrorCode::invalid_input, fmt::format("{} is no size of a JVM", word),
                                  recording.name);
            }
        }
        return {};
    }

    // A profile of G1 needs the size of its regions, which follows from -Xmx.
    void fill(RecordedLoop& loop, bool direct) const
    {
        const bool is_g1 = g1_ && !serial_;
        loop.profile = fmt::format("{}{}", direct ? "jvm-directbuffer" : "jvm-cleaner", is_g1 ? "-g1" : "");
        loop.may_be_g1 = !g1_ && !serial_;
        if (max_ || initial_) {
            const std::uint64_t max = max_.value_or(*initial_);
            add(loop, "heap_initial", initial_.value_or(max));
            add(loop, "heap_min", initial_.value_or(0));
            add(loop, "heap_max", max);
            if (is_g1) {
                add(loop, "region", region_.value_or(region_of(max)));
            }
        }
        if (cap_ && direct) {
            add(loop, "cap", *cap_);
        }
        if (direct && !explicit_gc_) {
            loop.runtime_keys.emplace_back("explicit_gc", "false");
        }
    }

  private:
    // False: a size that is none.
    bool read(std::string_view word)
    {
        struct Size {
            std::string_view start;
            std::optional<std::uint64_t>& value;
        };
        for (const Size& size : {Size{"-Xms", initial_}, Size{"-Xmx", max_}, Size{"-XX:G1HeapRegionSize=", region_},
                                 Size{"-XX:MaxDirectMemorySize=", cap_}}) {
            if (word.starts_with(size.start)) {
                size.value = jvm_size(word.substr(size.start.size()));
                return size.value.has_value();
            }
        }
        serial_ |= word == "-XX:+UseSerialGC";
        g1_ |= word == "-XX:+UseG1GC";
        explicit_gc_ &= word != "-XX:+DisableExplicitGC";
        return true;
    }

    static void add(RecordedLoop& loop, const char* key, std::uint64_t value)
    {
        loop.runtime_keys.emplace_back(key, base::exact_size(value));
    }

    // OpenJDK 17, heapRegion.cpp (setup_heap_region_size): 2048 regions, each from 1 to 32 MiB.
    static std::uint64_t region_of(std::uint64_t max_heap)
    {
        return std::bit_ceil(std::clamp<std::uint64_t>(max_heap / 2048, 1U << 20U, 32U << 20U));
    }

    std::optional<std::uint64_t> initial_;
    std::optional<std::uint64_t> max_;
    std::optional<std::uint64_t> region_;
    std::optional<std::uint64_t> cap_;
    bool serial_{};
    bool g1_{};
    bool explicit_gc_{true};
};

// What follows "loop": the arguments of a recorder.
std::vector<std::string> arguments_of(const Recording& recording)
{
    const auto at = std::ranges::find(recording.command, "loop");
    return at == recording.command.end() ? std::vector<std::string>{}
                                         : std::vector<std::string>{at + 1, recording.command.end()};
}

std::uint64_t number_at(const std::vector<std::string>& words, std::size_t place)
{
    return place < words.size() ? parse_number(words[place]).value_or(0) : 0;
}

}  // namespace

std::vector<std::uint64_t> Recording::collections() const
{
    std::vector<std::uint64_t> found;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        found.insert(found.end(), rows[i].collections - rows[i - 1].collections, rows[i].iteration);
    }
    return found;
}

std::uint64_t Recording::peak() const
{
    return std::ranges::max(rows, {}, &RecordedRow::unreleased).unreleased;
}

base::Expected<Recording> parse_recording(const std::string& name, std::string_view text)
{
    Recording recording{.name = name, .counts_major_ones_twice = true};
    std::optional<Header> header;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = trimmed(take_until(text, '\n'));
        if (!header && line.starts_with('#')) {
            if (line.starts_with(command_mark)) {
                recording.command = words_of(line.substr(command_mark.size()));
            }
        } else if (!header) {
            header = Header{line};
            if (!header->is_complete()) {
                return no_recording(name, number, "it begins with the titles i, unreleased and gc0");
            }
        } else if (!line.empty()) {
            if (const auto why = add_row(recording, *header, line); !why.empty()) {
                return no_recording(name, number, why);
            }
        }
    }
    if (recording.rows.size() < 2) {
        return no_recording(name, 1, "it needs two rows at least");
    }
    recording.has_generations = header->has_generations();
    recording.counts_major_ones_twice &= recording.has_generations;
    return recording;
}

base::Expected<RecordedLoop> recorded_loop(const Recording& recording)
{
    RecordedLoop loop;
    if (recording.command.empty()) {
        return loop;
    }
    const std::string& path = recording.command.front();
    const std::string program = path.substr(path.rfind('/') + 1);
    const std::vector<std::string> arguments = arguments_of(recording);
    const std::string kind = arguments.empty() ? "" : arguments.front();
    constexpr std::array<std::string_view, 4> released_at_once{"explicit", "directclose", "refcount", "dispose"};
    if (std::ranges::find(released_at_once, kind) != released_at_once.end() ||
        std::ranges::find(recording.command, "dispose") != recording.command.end()) {
        return base::fail(base::ErrorCode::invalid_input,
                          "this loop releases its buffers itself, so no collection tells anything", recording.name);
    }
    if (program.starts_with("java")) {
        JvmOptions options;
        MEMSWEEP_TRY(options.read(recording));
        loop.own_arrays = kind == "direct" ? 1 : 0;  // it reads files through a direct buffer of its own
        options.fill(loop, kind == "direct");
        loop.array_bytes = std::max<std::uint64_t>(number_at(arguments, 2), 1);
        loop.loop_keys.emplace_back("garbage", std::to_string(number_at(arguments, 3)));
    } else if (program.starts_with("mono")) {
        loop.profile = "mono";
        loop.array_bytes = std::max<std::uint64_t>(number_at(arguments, 1), 1);
        loop.loop_keys.emplace_back("garbage", std::to_string(number_at(arguments, 3)));
    } else if (program.starts_with("python")) {
        loop.profile = "cpython";
        const std::uint64_t lists = number_at(arguments, 3);
        // The list that holds them and the function that makes it are containers too.
        loop.loop_keys.emplace_back("containers_beside", std::to_string(lists == 0 ? 0 : lists + 2));
    }
    return loop;
}

}  // namespace memsweep::lifetime
