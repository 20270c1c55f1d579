#include "core/model/assertion.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"

namespace memsweep::model {

namespace {

using base::Expected;

template <typename Value>
struct Spelling {
    std::string_view name;
    Value value;
};
constexpr auto stats = std::to_array<Spelling<Stat>>({{"min", Stat::min},
                                                      {"max", Stat::max},
                                                      {"mean", Stat::mean},
                                                      {"median", Stat::median},
                                                      {"p(95)", Stat::percentile},  // in messages; read by take_stat
                                                      {"mad", Stat::mad},
                                                      {"mdape", Stat::mdape},
                                                      {"ci_lo", Stat::ci_lo},
                                                      {"ci_hi", Stat::ci_hi}});
// Two characters before one, so that "<=" is not read as "<".
constexpr auto comparisons = std::to_array<Spelling<Comparison>>({{"<=", Comparison::less_equal},
                                                                  {">=", Comparison::greater_equal},
                                                                  {"==", Comparison::equal},
                                                                  {"!=", Comparison::not_equal},
                                                                  {"<", Comparison::less},
                                                                  {">", Comparison::greater}});

constexpr std::string_view blanks = " \t\r\n";

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(blanks);
    return first == text.npos ? std::string_view{} : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

tl::unexpected<base::Error> problem(std::string message)
{
    return base::fail(base::ErrorCode::invalid_input, std::move(message));
}

// Reads tokens from the left; blanks between them are free.
class Reader {
  public:
    explicit Reader(std::string_view text) : rest_{trimmed(text)} {}

    bool take(std::string_view token)
    {
        const bool found = rest_.starts_with(token);
        if (found) {
            advance(token.size());
        }
        return found;
    }

    // A name: everything up to a blank or a sign of the grammar.
    std::string_view word() { return until(" \t\r\n.,()<>=!"); }

    std::string_view until(std::string_view stops)
    {
        const std::string_view taken = rest_.substr(0, rest_.find_first_of(stops));
        advance(taken.size());
        return trimmed(taken);
    }

    [[nodiscard]] std::string_view rest() const { return rest_; }

  private:
    void advance(std::size_t count) { rest_ = trimmed(rest_.substr(count)); }

    std::string_view rest_;
};

std::optional<double> plain_number(std::string_view text)
{
    double value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && std::isfinite(value) ? std::optional{value} : std::nullopt;
}

Expected<void> take_percentile(Reader& reader, Expression& expression)
{
    const bool opened = reader.take("(");
    const std::string_view text = reader.until(")");
    const auto percent = plain_number(text);
    if (!opened || !reader.take(")") || !percent || *percent < 0 || *percent > 100) {
        return problem("a percentile is written p(NN) with NN from 0 to 100, as in p(95)");
    }
    expression.stat = Stat::percentile;
    expression.percentile = *percent;
    return {};
}

std::array<std::string_view, stats.size()> stat_names()
{
    std::array<std::string_view, stats.size()> names{};
    std::ranges::transform(stats, names.begin(), &Spelling<Stat>::name);
    return names;
}

Expected<void> take_stat(Reader& reader, std::string_view name, Expression& expression)
{
    if (name == "p") {
        return take_percentile(reader, expression);
    }
    const auto* found = std::ranges::find(stats, name, &Spelling<Stat>::name);
    if (found == stats.end()) {
        return problem(fmt::format("\"{}\" is not a statistic{}", name, base::suggestion(name, stat_names())));
    }
    expression.stat = found->value;
    return {};
}

std::string unknown_metric(std::string_view name, bool at_point)
{
    const auto catalog = at_point ? point_catalog() : metric_catalog();
    const auto other = at_point ? metric_catalog() : point_catalog();
    if (find_metric(other, name) != nullptr) {
        return at_point ? fmt::format("{0} covers a whole repetition and has no points; write {0}.median", name)
                        : fmt::format("{0} is known only at sampled points; write POINT.{0}.max", name);
    }
    std::vector<std::string_view> known;
    std::ranges::transform(catalog, std::back_inserter(known), &MetricInfo::name);
    return fmt::format("unknown {}metric \"{}\"{}", at_point ? "point " : "", name, base::suggestion(name, known));
}

// mdape is a share of the median, whatever the metric's unit.
Expected<void> resolve_metric(std::string_view point, std::string_view metric, Expression& expression)
{
    const bool at_point = !point.empty();
    const MetricInfo* info = find_metric(at_point ? point_catalog() : metric_catalog(), metric);
    if (info == nullptr) {
        return problem(unknown_metric(metric, at_point));
    }
    expression.point = point;
    expression.metric = metric;
    expression.unit = expression.stat == Stat::mdape ? Unit::one : info->unit;
    return {};
}

// "; did you mean x.live_bytes.max?" of a selector whose last word is a metric, which a statistic must follow.
std::string missing_stat(const std::vector<std::string_view>& words)
{
    const std::string_view metric = words.back();
    if (find_metric(metric_catalog(), metric) != nullptr && words.size() == 1) {
        return fmt::format("; did you mean {}.median?", metric);
    }
    if (find_metric(point_catalog(), metric) != nullptr) {
        return fmt::format("; did you mean {}.{}.max?", words.size() == 1 ? "POINT" : words.front(), metric);
    }
    return {};
}

// [point "."] metric "." stat
Expected<void> take_selector(Reader& reader, Expression& expression)
{
    std::vector<std::string_view> words;
    do {
        words.push_back(reader.word());
    } while (!words.back().empty() && reader.take("."));
    if (std::string hint = words.size() > 2 ? std::string{} : missing_stat(words); !hint.empty()) {
        return problem(fmt::format("{} is a metric and needs one of its statistics ({}){}", words.back(),
                                   fmt::join(stat_names(), ", "), hint));
    }
    if (words.back().empty() || words.size() < 2 || words.size() > 3) {
        return problem(
            "expected METRIC.STAT or POINT.METRIC.STAT, as in wall_time.median or after_drop.live_bytes.max");
    }
    MEMSWEEP_TRY(take_stat(reader, words.back(), expression));
    return resolve_metric(words.size() == 3 ? words.front() : std::string_view{}, words[words.size() - 2], expression);
}

Expected<RatioOf> take_side(Reader& reader)
{
    const std::string_view axis = reader.word();
    const bool equals = reader.take("=");
    const std::string_view value = reader.until(",)");
    if (axis.empty() || !equals || value.empty() || value.front() == '=') {
        return problem("the sides of a ratio are written AXIS=VALUE, as in mode=finalizer");
    }
    return RatioOf{std::string{axis}, std::string{value}};
}

// From the first side to the second along their axis; 0 when they are not two numbers of one axis.
double length_between(const RatioOf& first, const RatioOf& second)
{
    const auto from = plain_number(first.value);
    const auto to = plain_number(second.value);
    return first.axis == second.axis && from && to ? *to - *from : 0;
}

// What follows "ratio(" or "slope(": a selector and the two sides; what follows "explained(": the two sides.
Expected<void> take_pair(Reader& reader, std::string_view function, Expression& expression)
{
    expression.explained = function == "explained";
    const std::string form = expression.explained
                                 ? std::string{"it is written explained(AXIS=VALUE, AXIS=VALUE)"}
                                 : fmt::format("a {0} is written {0}(METRIC.STAT, AXIS=VALUE, AXIS=VALUE)", function);
    if (!expression.explained) {
        MEMSWEEP_TRY(take_selector(reader, expression));
    }
    bool comma_due = !expression.explained;
    std::array<RatioOf, 2> sides;
    for (RatioOf& side : sides) {
        if (comma_due && !reader.take(",")) {
            return problem(form);
        }
        comma_due = true;
        side = MEMSWEEP_TRY(take_side(reader));
    }
    if (!reader.take(")")) {
        return problem(form);
    }
    if (sides[0].axis == sides[1].axis && sides[0].value == sides[1].value) {
        return problem(fmt::format("the two sides of the {} are the same", function));
    }
    if (function == "slope") {
        expression.slope_length = length_between(sides[0], sides[1]);
        if (expression.slope_length == 0) {
            return problem("a slope lies between two numbers of one axis, as in calls=10, calls=20");
        }
    }
    expression.ratio.emplace(std::move(sides[0]), std::move(sides[1]));
    expression.unit = Unit::one;
    return {};
}

Expected<void> take_left_side(Reader& reader, Expression& expression)
{
    Reader ahead = reader;
    const std::string_view word = ahead.word();
    if ((word == "ratio" || word == "slope" || word == "explained") && ahead.take("(")) {
        reader = ahead;
        return take_pair(reader, word, expression);
    }
    return take_selector(reader, expression);
}

Expected<void> take_comparison(Reader& reader, Expression& expression)
{
    for (const auto& [name, comparison] : comparisons) {
        if (reader.take(name)) {
            expression.comparison = comparison;
            return {};
        }
    }
    const std::string_view found = reader.rest();
    return problem(found.empty() ? std::string{"a comparison is missing: <, <=, >, >=, == or !="}
                                 : fmt::format("expected <, <=, >, >=, == or != before \"{}\"", found));
}

// "1.25ns", in seconds. A load from the nearest cache takes a nanosecond or two, so that a limit needs fractions of
// one, which a duration that something waits for does not have.
std::optional<double> parse_fraction_of_nanoseconds(std::string_view text)
{
    constexpr std::string_view unit = "ns";
    constexpr std::string_view digits = "0123456789";
    if (!text.ends_with(unit)) {
        return std::nullopt;
    }
    text.remove_suffix(unit.size());
    const bool is_plain = text.find_first_not_of("0123456789.") == text.npos && !text.empty() &&
                          digits.find(text.front()) != digits.npos && digits.find(text.back()) != digits.npos;
    const auto number = is_plain ? plain_number(text) : std::nullopt;
    return number ? std::optional{*number * 1e-9} : std::nullopt;
}

Expected<double> parse_seconds(std::string_view text)
{
    if (plain_number(text)) {
        return problem(fmt::format("a duration is never bare: write {0}s, {0}ms, {0}us or {0}ns for \"{0}\"", text));
    }
    const auto whole = base::parse_duration(text);
    const auto fraction = whole ? std::nullopt : parse_fraction_of_nanoseconds(text);
    return fraction ? *fraction : std::chrono::duration<double>{MEMSWEEP_TRY(whole)}.count();
}

Expected<double> parse_count(std::string_view text, std::string_view suffix)
{
    const bool suffixed = text.ends_with(suffix);
    const auto number = suffixed ? plain_number(text.substr(0, text.size() - suffix.size())) : std::nullopt;
    if (!number) {
        return problem(suffix.empty() ? fmt::format("\"{}\" is not a plain number, which this limit must be", text)
                                      : fmt::format("\"{}\" is not a number with {}", text, suffix));
    }
    return *number;
}

Expected<double> parse_limit(std::string_view text, Unit unit)
{
    if (text.empty()) {
        return problem("nothing to compare with after the comparison");
    }
    switch (unit) {
    case Unit::bytes:
        return static_cast<double>(MEMSWEEP_TRY(base::parse_size(text)));
    case Unit::seconds:
        return parse_seconds(text);
    case Unit::bytes_per_second:
        return base::parse_rate(text);
    case Unit::per_second:
        return parse_count(text, "op/s");
    case Unit::one:
        break;
    }
    return parse_count(text, "");
}

Expected<Expression> parse(std::string_view text)
{
    Reader reader{text};
    Expression expression;
    for (const auto take : {take_left_side, take_comparison}) {
        MEMSWEEP_TRY(take(reader, expression));
    }
    expression.limit = MEMSWEEP_TRY(parse_limit(reader.rest(), expression.unit));
    return expression;
}

}  // namespace

base::Expected<Expression> parse_expression(std::string_view text)
{
    return parse(text).map_error([&](base::Error error) {
        error.message = fmt::format("assertion \"{}\": {}", text, error.message);
        return error;
    });
}

bool holds(Comparison comparison, double actual, double limit)
{
    switch (comparison) {
    case Comparison::less:
        return actual < limit;
    case Comparison::less_equal:
        return actual <= limit;
    case Comparison::greater:
        return actual > limit;
    case Comparison::greater_equal:
        return actual >= limit;
    case Comparison::equal:
        return actual == limit;
    case Comparison::not_equal:
        return actual != limit;
    }
    return false;
}

}  // namespace memsweep::model
