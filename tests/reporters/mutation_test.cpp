// Damaged results: reading them ends in an error or in a report that every writer can write, never in a crash.
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "core/base/rng.hpp"
#include "reporters/formats.hpp"
#include "reporters/json/result_json.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

using Parsed = nlohmann::ordered_json;

constexpr int mutations = 500;

// Every kind of part, few of each, so that damage falls on all of them.
model::RunReport small_report()
{
    model::RunReport report = sample_report();
    report.cases.erase(report.cases.begin() + 2);
    for (model::CaseReport& one : report.cases) {
        one.metrics.resize(std::min<std::size_t>(one.metrics.size(), 2));
        one.points.resize(std::min<std::size_t>(one.points.size(), 4));
        one.phases.resize(std::min<std::size_t>(one.phases.size(), 4));
        one.series.resize(std::min<std::size_t>(one.series.size(), 2));
    }
    return report;
}

std::string damaged_text(std::string text, base::Rng& rng)
{
    const std::size_t at = rng.below(text.size());
    const std::size_t length = 1 + rng.below(40);
    switch (rng.below(5)) {
    case 0:
        text[at] = static_cast<char>(rng.below(256));
        return text;
    case 1:
        return text.erase(at, length);
    case 2:
        return text.insert(at, text.substr(rng.below(text.size()), length));
    case 3:
        return text.substr(0, at);
    default:
        constexpr std::array<const char*, 6> tokens{"null", "-1", "1e400", "\"\\ud800\"", "[[[[", "}"};
        return text.insert(at, tokens[rng.below(tokens.size())]);
    }
}

Parsed other_value(base::Rng& rng)
{
    const std::array<Parsed, 9> values{nullptr,         true, -1, 1.5, 1e300, "", "\xff\xfe", Parsed::array(),
                                       Parsed::object()};
    return values[rng.below(values.size())];
}

// Walks down from the root and replaces or removes what it stops at.
void damage(Parsed& json, base::Rng& rng)
{
    if (!json.is_structured() || json.empty() || rng.below(6) == 0) {
        json = other_value(rng);
        return;
    }
    auto child = json.begin();
    std::advance(child, static_cast<std::ptrdiff_t>(rng.below(json.size())));
    if (rng.below(12) == 0) {
        json.erase(child);
    } else {
        damage(*child, rng);
    }
}

// True when it could be read.
bool survives(const std::string& text)
{
    const auto report = read_json(text, "damaged.json");
    if (!report) {
        CHECK_FALSE(base::describe(report.error()).empty());
        return false;
    }
    const std::string written = to_json(*report);
    const auto again = read_json(written, "rewritten.json");
    REQUIRE(again);
    CHECK((to_json(*again) == written));
    for (const Format& format : formats()) {
        // Of a host that is well there is nothing to say.
        CHECK_FALSE((text_in(format, *report).empty() && format.name != "health"));
    }
    return true;
}

}  // namespace

TEST_CASE("damaged text never crashes the reader", "[unit]")
{
    const std::uint64_t seed = 20'260'131;
    INFO("seed " << seed);
    base::Rng rng{seed};
    const std::string text = to_json(small_report());
    int read = 0;
    for (int i = 0; i < mutations; ++i) {
        read += survives(damaged_text(text, rng)) ? 1 : 0;
    }
    CHECK(read > 0);
    CHECK(read < mutations);
}

TEST_CASE("damaged values never crash the reader or a writer", "[unit]")
{
    const std::uint64_t seed = 613;
    INFO("seed " << seed);
    base::Rng rng{seed};
    const Parsed document = Parsed::parse(to_json(small_report()));
    int read = 0;
    for (int i = 0; i < mutations; ++i) {
        Parsed damaged = document;
        damage(damaged, rng);
        read += survives(damaged.dump(-1, ' ', false, Parsed::error_handler_t::ignore)) ? 1 : 0;
    }
    CHECK(read > 0);
    CHECK(read < mutations);
}

}  // namespace memsweep::reporters
