// The content of a table, without formatting, and functions that write numbers as text for people.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/metric.hpp"

namespace memsweep::reporters {

enum class Tone { plain, good, caution, bad, muted };

struct Cell {
    std::string text{};
    std::string exact{};            // the value with all its digits, if `text` is rounded
    std::optional<double> share{};  // length of a bar, 0..1: value / largest of its kind, or value / total
    Tone tone{Tone::plain};
};

struct Column {
    std::string title{};
    bool is_key{};      // names what a row is about; repeated in each part of a split table
    bool is_number{};   // aligned to the right, never shortened
    bool is_word{};     // should be shown in full: shortened only if it is unusually long
    bool is_verdict{};  // the verdict on the row; in a split table it is shown beside the row's name

    static Column key(std::string title) { return {.title = std::move(title), .is_key = true}; }
    static Column word_key(std::string title) { return {.title = std::move(title), .is_key = true, .is_word = true}; }
    static Column number_key(std::string title)
    {
        return {.title = std::move(title), .is_key = true, .is_number = true};
    }
    static Column number(std::string title) { return {.title = std::move(title), .is_number = true}; }
    static Column word(std::string title) { return {.title = std::move(title), .is_word = true}; }
    static Column verdict(std::string title)
    {
        return {.title = std::move(title), .is_word = true, .is_verdict = true};
    }
    static Column text(std::string title) { return {.title = std::move(title)}; }
};

struct Table {
    std::string title{};
    std::string note{};  // for the whole table
    std::vector<Column> columns{};
    std::vector<std::vector<Cell>> rows{};  // each row is as long as `columns`; an empty text means "no value"

    void add_numbers(std::initializer_list<const char*> titles);  // adds columns of numbers
};

// Writes a few digits and a unit: "762.9 MiB", "1.25 ms"; counts in full: "195,313". Empty for a value that is not
// finite.
[[nodiscard]] std::string value_text(double value, model::Unit unit);
// Writes every digit, with the metric's unit: "800,000,000 B", "0.00125 s", "195,313".
[[nodiscard]] std::string exact_text(double value, model::Unit unit);
[[nodiscard]] std::string percent_text(double fraction);  // "0.4%"

using Interval = std::optional<std::array<double, 2>>;
template <typename TextOf>  // text_of(double) -> std::string
[[nodiscard]] std::string interval_text(const Interval& ends, std::string_view between, TextOf text_of);
// Writes an interval: "1 ms to 2 ms". Empty if there is no interval.
[[nodiscard]] std::string interval_text(const Interval& ends, model::Unit unit);
[[nodiscard]] std::string exact_interval_text(const Interval& ends, model::Unit unit);  // with the ends as exact_text()

[[nodiscard]] Cell value_cell(std::optional<double> value, model::Unit unit);
[[nodiscard]] Cell count_cell(std::uint64_t count, Tone tone = Tone::plain);  // all digits, in groups: "195,313"

[[nodiscard]] std::string plural(std::uint64_t count, std::string_view noun);                              // "2 cores"
[[nodiscard]] std::string listed(const std::vector<std::string>& texts, std::string_view between = ", ");  // "a, b"

[[nodiscard]] std::string capitalised(std::string text);  // "Two cores"

// Joins arguments to a command line, quoted so that a shell splits it into the same arguments.
[[nodiscard]] std::string command_line(const std::vector<std::string>& arguments);

// Returns the median of the finite values; empty: no value is finite.
[[nodiscard]] std::optional<double> median_of(std::vector<double> values);

template <typename TextOf>
std::string interval_text(const Interval& ends, std::string_view between, TextOf text_of)
{
    return ends ? text_of((*ends)[0]).append(between).append(text_of((*ends)[1])) : std::string{};
}

}  // namespace memsweep::reporters
