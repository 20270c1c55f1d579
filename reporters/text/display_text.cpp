#include "reporters/text/display_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

struct Range {
    char32_t first;
    char32_t last;
};

constexpr std::array<Range, 11> wide_ranges{{{0x1100, 0x115F},
                                             {0x2E80, 0x303E},
                                             {0x3041, 0xA4CF},
                                             {0xA960, 0xA97F},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0xFFE0, 0xFFE6},
                                             {0x1F300, 0x1FAFF},
                                             {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 5> zero_ranges{
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};

template <std::size_t size>
bool is_in(const std::array<Range, size>& ranges, char32_t value)
{
    return std::ranges::any_of(ranges, [&](const Range& range) { return value >= range.first && value <= range.last; });
}

int width_of(char32_t value)
{
    if (is_in(zero_ranges, value)) {
        return 0;
    }
    return is_in(wide_ranges, value) ? 2 : 1;
}

// Bytes of the longest beginning that fits.
std::size_t fitting_prefix(std::string_view text, int width)
{
    std::size_t bytes = 0;
    int used = 0;
    while (bytes < text.size()) {
        const CodePoint next = first_code_point(text.substr(bytes));
        used += width_of(next.value);
        if (used > width) {
            break;
        }
        bytes += next.length;
    }
    return bytes;
}

// Bytes from which on the ending fits.
std::size_t fitting_suffix(std::string_view text, int width)
{
    std::size_t start = 0;
    int rest = display_width(text);
    while (rest > width) {
        const CodePoint next = first_code_point(text.substr(start));
        rest -= width_of(next.value);
        start += next.length;
    }
    return start;
}

constexpr std::array<std::string_view, 16> units{"%",  "B", "KiB", "MiB", "GiB",  "TiB",  "ns",   "us",
                                                 "ms", "s", "min", "B/s", "kB/s", "MB/s", "GB/s", "TB/s"};

// The end of the first word. A number ends with the unit behind it: a line does not break between the two.
std::size_t end_of_word(std::string_view text)
{
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end == text.size() || text[end - 1] < '0' || text[end - 1] > '9') {
        return end;
    }
    const std::size_t next_end = std::min(text.find(' ', end + 1), text.size());
    const std::string_view next = text.substr(end + 1, next_end - end - 1);
    const std::string_view word = next.substr(0, next.find_last_not_of(".,;:)") + 1);
    return std::ranges::find(units, word) == units.end() ? end : next_end;
}

struct Piece {
    std::string_view text;
    bool after_blank{};
};

// What lies between the places where a line may break.
std::vector<Piece> pieces_of(std::string_view text, std::string_view break_after)
{
    std::vector<Piece> pieces;
    bool after_blank = false;
    while (!text.empty()) {
        if (text.front() == ' ') {
            after_blank = true;
            text.remove_prefix(1);
            continue;
        }
        std::size_t end = end_of_word(text);
        const std::size_t inside = text.substr(0, end).find_first_of(break_after);
        if (inside != std::string_view::npos && inside + 1 < end) {
            end = inside + 1;
        }
        pieces.push_back({text.substr(0, end), after_blank});
        after_blank = false;
        text.remove_prefix(end);
    }
    return pieces;
}

void append_cut(std::vector<std::string>& lines, std::string_view piece, int width)
{
    for (std::size_t fits = fitting_prefix(piece, width); fits < piece.size(); fits = fitting_prefix(piece, width)) {
        const std::size_t slash = piece.substr(0, fits).find_last_of('/');
        const std::size_t bytes =
            slash == std::string_view::npos || slash == 0 ? std::max(fits, first_code_point(piece).length) : slash + 1;
        lines.emplace_back(piece.substr(0, bytes));
        piece.remove_prefix(bytes);
    }
    lines.emplace_back(piece);
}

// A case's id has parts, and a part has words. A name is cut between parts, or between words if that leaves half of the
// room.
constexpr std::string_view part_ends = "/ ";
constexpr std::string_view word_ends = "_-=,";

// Bytes of `text` to keep in front, of `fitting` that there is room for.
std::size_t kept_in_front(std::string_view text, std::size_t fitting)
{
    if (part_ends.find(text[fitting]) != std::string_view::npos) {
        return fitting;
    }
    const std::string_view front = text.substr(0, fitting);
    if (const std::size_t part = front.find_last_of(part_ends); part != std::string_view::npos) {
        return part + 1;
    }
    const std::size_t word = front.find_last_of(word_ends);
    return word == std::string_view::npos || word < fitting / 2 ? fitting : word + 1;
}

// Where what is kept behind begins, if there is room from `fitting` on.
std::size_t kept_behind(std::string_view text, std::size_t fitting)
{
    if (fitting == text.size() || part_ends.find(text[fitting - 1]) != std::string_view::npos) {
        return fitting;
    }
    if (const std::size_t part = text.find_first_of(part_ends, fitting); part != std::string_view::npos) {
        return part;
    }
    const std::size_t word = text.find_first_of(word_ends, fitting);
    return word == std::string_view::npos || text.size() - word < (text.size() - fitting) / 2 ? fitting : word;
}

// Where a name is unlike each of the others, at the end of a code point.
std::size_t same_in_front(std::string_view name, const std::vector<std::string>& others)
{
    std::size_t most = 0;
    for (const std::string& other : others) {
        if (other != name) {
            const auto apart = std::ranges::mismatch(name, other).in1;
            most = std::max(most, static_cast<std::size_t>(apart - name.begin()));
        }
    }
    std::size_t end = 0;
    while (end < most) {
        const std::size_t next = end + first_code_point(name.substr(end)).length;
        if (next > most) {
            break;
        }
        end = next;
    }
    return end;
}

// The beginning, and as much as there is room for of what comes a little before `from`.
std::string elided_before(const std::string& name, std::size_t from, int width)
{
    constexpr int seen_before = 4;
    const std::string_view text = name;
    const std::string front{text.substr(0, fitting_prefix(text, width / 4))};
    const std::size_t begin = std::max(front.size(), fitting_suffix(text.substr(0, from), seen_before));
    const int room = width - display_width(front) - 1;
    const std::string_view rest = text.substr(begin);
    return front + "…" +
           (display_width(rest) <= room ? std::string{rest}
                                        : std::string{rest.substr(0, fitting_prefix(rest, room - 1))} + "…");
}

}  // namespace

int display_width(std::string_view text)
{
    int width = 0;
    for (; !text.empty(); text.remove_prefix(first_code_point(text).length)) {
        width += width_of(first_code_point(text).value);
    }
    return width;
}

std::string elided(const std::string& text, int width, Cut cut)
{
    if (display_width(text) <= width) {
        return text;
    }
    const int kept = std::max(width - 1, 0);
    const bool is_anywhere = cut == Cut::anywhere;
    const std::size_t fitting = fitting_prefix(text, (kept + 1) / 2);
    const std::string front = text.substr(0, is_anywhere ? fitting : kept_in_front(text, fitting));
    const std::size_t behind = fitting_suffix(text, kept - display_width(front));
    return front + "…" + text.substr(is_anywhere ? behind : kept_behind(text, behind));
}

std::vector<std::string> elided_apart(const std::vector<std::string>& names, int width)
{
    std::map<std::string, std::set<std::string>> whole;  // of each shortened name, what it may stand for
    for (const std::string& name : names) {
        whole[elided(name, width, Cut::anywhere)].insert(name);
    }
    std::vector<std::string> shortened;
    std::map<std::string, std::string> taken;
    for (const std::string& name : names) {
        std::string text = elided(name, width, Cut::anywhere);
        if (whole[text].size() > 1) {
            text = elided_before(name, same_in_front(name, names), width);
        }
        const std::string plain = text;
        for (int number = 2; taken.try_emplace(text, name).first->second != name; ++number) {
            text = fmt::format("{} #{}", plain, number);
        }
        shortened.push_back(text);
    }
    return shortened;
}

std::vector<std::string> wrapped(std::string_view text, int width, std::string_view break_after)
{
    std::vector<std::string> lines;
    for (const Piece& piece : pieces_of(text, break_after)) {
        const std::string_view blank = piece.after_blank ? " " : "";
        if (!lines.empty() && display_width(lines.back()) + display_width(blank) + display_width(piece.text) <= width) {
            lines.back().append(blank).append(piece.text);
        } else {
            append_cut(lines, piece.text, width);
        }
    }
    return lines;
}

int longest_word(std::string_view text, std::string_view break_after)
{
    int longest = 0;
    for (const Piece& piece : pieces_of(text, break_after)) {
        longest = std::max(longest, display_width(piece.text));
    }
    return longest;
}

std::string padded_left(const std::string& text, int width)
{
    return std::string(static_cast<std::size_t>(std::max(width - display_width(text), 0)), ' ') + text;
}

std::string padded_right(const std::string& text, int width)
{
    return text + std::string(static_cast<std::size_t>(std::max(width - display_width(text), 0)), ' ');
}

}  // namespace memsweep::reporters
