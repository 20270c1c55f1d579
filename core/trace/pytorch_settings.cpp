#include "core/trace/pytorch_settings.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t first_interval_log2 = 20;  // 1 MiB
constexpr std::uint64_t least_split_mib = 20;
constexpr std::uint64_t most_mib = ~0ULL / mib;

// Names that say nothing about how memory of a device is reserved.
constexpr std::array<std::string_view, 7> without_effect{
    "pinned_use_background_threads",    "pinned_use_cuda_host_register", "pinned_num_register_threads",
    "pinned_reserve_segment_size_mb",   "pinned_max_cachesize_mb",       "release_lock_on_cudamalloc",
    "graph_capture_record_stream_reuse"};

base::Expected<void> refuse_setting(std::string message)
{
    return base::fail(base::ErrorCode::invalid_input, std::move(message));
}

std::string_view without_blanks_around(std::string_view text)
{
    while (!text.empty() && text.front() == ' ') {
        text.remove_prefix(1);
    }
    while (!text.empty() && text.back() == ' ') {
        text.remove_suffix(1);
    }
    return text;
}

// Parts between commas that stand outside brackets.
std::vector<std::string_view> parts_of(std::string_view text)
{
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    bool is_in_brackets = false;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        if (at == text.size() || (text[at] == ',' && !is_in_brackets)) {
            parts.push_back(without_blanks_around(text.substr(begin, at - begin)));
            begin = at + 1;
        } else if (text[at] == '[' || text[at] == ']') {
            is_in_brackets = text[at] == '[';
        }
    }
    return parts;
}

base::Expected<std::uint64_t> mib_of(std::string_view name, std::string_view value)
{
    const auto number = base::parse_number(value);
    if (!number || *number < least_split_mib) {
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format("{} is {}: a whole number of MiB from {} on is wanted", name, value, least_split_mib));
    }
    return std::min(*number, most_mib) * mib;
}

std::optional<std::uint64_t> divisions_in(std::string_view text)
{
    const auto number = base::parse_number(text);
    return number && (*number == 0 || std::has_single_bit(*number)) ? number : std::nullopt;
}

std::size_t interval_of(std::uint64_t power_of_two)
{
    return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(power_of_two)) - 1, 15);
}

// "256:1,512:2,>:4": what holds from a size in MiB on; the first also below, ">" above the last.
base::Expected<void> read_intervals(std::string_view list, PyTorchSettings& settings)
{
    std::optional<std::size_t> last;
    for (const std::string_view part : parts_of(list)) {
        const std::size_t colon = part.find(':');
        const std::string_view from = without_blanks_around(part.substr(0, colon));
        const auto divisions = colon == std::string_view::npos
                                   ? std::nullopt
                                   : divisions_in(without_blanks_around(part.substr(colon + 1)));
        const auto size = from == ">" ? std::optional<std::uint64_t>{1} : base::parse_number(from);
        if (!divisions || !size || !std::has_single_bit(*size)) {
            return refuse_setting(fmt::format("roundup_power2_divisions has {}: as in 256:4 is wanted, with powers of "
                                              "two, or 0 divisions",
                                              part.empty() ? "an empty part" : part));
        }
        if (from == ">") {
            const std::size_t begin = last ? *last + 1 : 0;
            std::fill(settings.divisions.begin() + static_cast<std::ptrdiff_t>(begin), settings.divisions.end(),
                      *divisions);
            continue;
        }
        const std::size_t interval = interval_of(*size);
        if (!last) {
            std::fill_n(settings.divisions.begin(), interval, *divisions);
        }
        settings.divisions[interval] = *divisions;
        last = interval;
    }
    return {};
}

base::Expected<void> read_divisions(std::string_view value, PyTorchSettings& settings)
{
    if (value.size() >= 2 && value.front() == '[' && value.back() == ']') {
        return read_intervals(value.substr(1, value.size() - 2), settings);
    }
    const auto divisions = divisions_in(value);
    if (!divisions || *divisions == 0) {
        return refuse_setting(fmt::format("roundup_power2_divisions is {}: a power of two is wanted", value));
    }
    settings.divisions.fill(*divisions);
    return {};
}

base::Expected<void> read_threshold(std::string_view value, PyTorchSettings& settings)
{
    double share = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), share);
    if (error != std::errc{} || end != value.data() + value.size() || !(share > 0 && share < 1)) {
        return refuse_setting(
            fmt::format("garbage_collection_threshold is {}: a share between 0 and 1 is wanted", value));
    }
    settings.gc_threshold = share;
    return {};
}

base::Expected<void> read_setting(std::string_view name, std::string_view value, PyTorchSettings& settings)
{
    if (name == "max_split_size_mb") {
        settings.max_split = MEMSWEEP_TRY(mib_of(name, value));
    } else if (name == "max_non_split_rounding_mb") {
        settings.max_non_split_rounding = MEMSWEEP_TRY(mib_of(name, value));
    } else if (name == "roundup_power2_divisions") {
        return read_divisions(value, settings);
    } else if (name == "garbage_collection_threshold") {
        return read_threshold(value, settings);
    } else if (name == "expandable_segments") {
        if (value != "True" && value != "False") {
            return refuse_setting(fmt::format("expandable_segments is {}: True or False is wanted", value));
        }
        settings.expandable = value == "True";
    } else if (name == "backend") {
        if (value != "native") {
            return refuse_setting(fmt::format("backend is {}: only the native one is simulated", value));
        }
    } else if (std::ranges::find(without_effect, name) == without_effect.end()) {
        return refuse_setting(fmt::format("{} is no setting of PyTorch's allocator that is known here", name));
    }
    return {};
}

std::string divisions_text(const std::array<std::uint64_t, 16>& divisions)
{
    if (std::ranges::all_of(divisions, [&](std::uint64_t each) { return each == divisions.front(); })) {
        return std::to_string(divisions.front());
    }
    std::string text = "[";
    for (std::size_t i = 0; i < divisions.size(); ++i) {
        text += fmt::format("{}{}:{}", i == 0 ? "" : ",", 1ULL << i, divisions[i]);
    }
    return text + "]";
}

}  // namespace

std::uint64_t PyTorchSettings::divisions_of(std::uint64_t size) const
{
    const auto log2 = static_cast<std::uint64_t>(std::bit_width(size | 1)) - 1;
    return divisions[std::min<std::uint64_t>(log2 - std::min(log2, first_interval_log2), divisions.size() - 1)];
}

bool PyTorchSettings::rounds() const
{
    return std::ranges::any_of(divisions, [](std::uint64_t each) { return each > 1; });
}

std::string text_of(const PyTorchSettings& settings)
{
    const PyTorchSettings usual;
    std::string text;
    const auto add = [&](std::string_view name, const std::string& value) {
        text += fmt::format("{}{}:{}", text.empty() ? "" : ",", name, value);
    };
    if (settings.expandable) {
        add("expandable_segments", "True");
    }
    if (settings.divisions != usual.divisions) {
        add("roundup_power2_divisions", divisions_text(settings.divisions));
    }
    if (settings.max_split != usual.max_split) {
        add("max_split_size_mb", std::to_string(settings.max_split / mib));
    }
    if (settings.max_non_split_rounding != usual.max_non_split_rounding) {
        add("max_non_split_rounding_mb", std::to_string(settings.max_non_split_rounding / mib));
    }
    if (settings.gc_threshold > 0) {
        add("garbage_collection_threshold", fmt::format("{}", settings.gc_threshold));
    }
    return text;
}

base::Expected<PyTorchSettings> parse_pytorch_settings(std::string_view text)
{
    PyTorchSettings settings;
    for (const std::string_view part : parts_of(text)) {
        if (part.empty()) {
            continue;
        }
        const std::size_t colon = part.find(':');
        if (colon == std::string_view::npos) {
            return base::fail(base::ErrorCode::invalid_input,
                              fmt::format("{} has no value: NAME:VALUE is wanted", part));
        }
        MEMSWEEP_TRY(read_setting(without_blanks_around(part.substr(0, colon)),
                                  without_blanks_around(part.substr(colon + 1)), settings));
    }
    return settings;
}

}  // namespace memsweep::trace
