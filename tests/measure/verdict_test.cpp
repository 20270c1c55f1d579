#include "core/measure/verdict.hpp"

#include "reporters/wording/reason_words.hpp"
#include "reporters/wording/shift_words.hpp"
#include "tests/measure/samples.hpp"

using namespace memsweep;
using namespace memsweep::measure;
using Catch::Matchers::Contains;
using model::Unit;

namespace {

Threshold threshold_of(const Thresholds& chosen, const char* name)
{
    const model::Metric one = metric(name, {});
    return threshold_for(chosen, one.name, one.unit, one.metric_class);
}

}  // namespace

TEST_CASE("every metric has the default threshold of its kind", "[unit]")
{
    const auto of = [](const char* name) { return threshold_of({}, name); };
    CHECK(of("wall_time").relative == 0.05);
    CHECK(of("wall_time").absolute == 0);
    CHECK(of("working_set_peak").relative == 0.02);
    CHECK(of("working_set_peak").absolute == 1048576);
    CHECK(of("residual_working_set").absolute == 1048576);
    CHECK(of("minor_faults").relative == 0.02);
    CHECK(of("minor_faults").absolute == 64);
    CHECK(of("major_faults").relative == 0);
    CHECK(of("major_faults").absolute == 1);
    CHECK(of("drain_time").relative == 0.05);
    CHECK(of("drain_time").absolute == 100e-9);
    CHECK_FALSE(beyond(of("drain_time"), 70e-9, 80e-9));
    CHECK(of("time_per_op").absolute == 0);
    CHECK(of("live_bytes_peak").relative == 0.001);
    CHECK(of("live_bytes_peak").at_most == 4096);
    CHECK(of("allocations").relative == 0);
    CHECK(of("allocations").absolute == 0);
    CHECK(default_threshold("bandwidth", model::Unit::bytes_per_second, model::MetricClass::noisy).relative == 0.05);
}

TEST_CASE("a chosen threshold replaces the default of its metric only", "[unit]")
{
    const Thresholds chosen{{"wall_time", {0.1, 0.001}}};
    CHECK(threshold_of(chosen, "wall_time").relative == 0.1);
    CHECK(threshold_of(chosen, "cpu_time").relative == 0.05);
}

TEST_CASE("a change must be beyond both thresholds", "[unit]")
{
    const Threshold both{0.02, 64};
    CHECK_FALSE(beyond(both, 100, 63));     // +63 %, but only 63 faults
    CHECK_FALSE(beyond(both, 10000, 200));  // exactly 2 %
    CHECK(beyond(both, 10000, 201));
    CHECK(beyond(both, 10000, -201));
    CHECK(beyond(both, 0, 64));
    CHECK(beyond({0, 1}, 5, 1));
    CHECK_FALSE(beyond({0, 0}, 5, 0));
    CHECK(beyond({0, 0}, 5, 1e-9));
}

TEST_CASE("thresholds are shown in their unit", "[unit]")
{
    CHECK(reporters::threshold_text({0.05, 0}, model::Unit::seconds) == "5 %");
    CHECK(reporters::threshold_text({0.02, 1048576}, model::Unit::bytes) == "2 % and 1.00 MiB");
    CHECK(reporters::threshold_text({0, 1}, model::Unit::one) == "1");
    CHECK(reporters::threshold_text({0.001, 0, 4096}, model::Unit::bytes) == "0.1 %, at most 4.00 KiB");
}

TEST_CASE("of an exact size is forgiven what is below 0.1 % and below 4 KiB, of a count nothing", "[unit]")
{
    struct Change {
        const char* metric;
        double base, change;
        Verdict verdict;
    };
    const auto verdict_of = [](const Change& one, const Thresholds& chosen) {
        return judge_exact({metric(one.metric, {}).unit, metric(one.metric, {}).better,
                            threshold_of(chosen, one.metric), one.base, one.base + one.change})
            .verdict;
    };
    for (const char* const size : {"live_bytes_peak", "allocated_bytes", "live_bytes_end"}) {
        CAPTURE(size);
        CHECK(verdict_of({size, 3418000, 8, {}}, {}) == Verdict::same);
        CHECK(verdict_of({size, 3418000, -8, {}}, {}) == Verdict::same);
        CHECK(verdict_of({size, 3418000, 3419, {}}, {}) == Verdict::regressed);  // beyond 0.1 %
        CHECK(verdict_of({size, 1e9, 4096, {}}, {}) == Verdict::same);
        CHECK(verdict_of({size, 1e9, 4097, {}}, {}) == Verdict::regressed);  // beyond 4 KiB
        CHECK(verdict_of({size, 0, 1, {}}, {}) == Verdict::regressed);       // of nothing 0.1 % is nothing
        CHECK(verdict_of({size, 3418000, 8, {}}, {{size, {0, 0}}}) == Verdict::regressed);
    }
    for (const char* const count : {"allocations", "outstanding", "checksum", "double_frees"}) {
        CAPTURE(count);
        CHECK(verdict_of({count, 1e6, 1, {}}, {}) != Verdict::same);
    }
}

TEST_CASE("a change that rounding would hide is told by its difference", "[unit]")
{
    const auto of_medians = [](double from, double to) { return Shift{true, to / from, {}}; };
    const Shift eight = of_medians(3418000, 3418008);
    CHECK(reporters::brief_shift_text(Unit::bytes, eight, 3418000) == "+8 B");
    CHECK(reporters::shift_text(Unit::bytes, eight, 3418000, 3418008) == "+8 B (3.26 MiB)");
    CHECK(reporters::shift_text(Unit::one, of_medians(1000, 999), 1000, 999) == "-1 (999)");
    CHECK(reporters::shift_text(Unit::one, of_medians(1000, 1020), 1000, 1020) == "1,020 instead of 1,000");
    CHECK(reporters::shift_text(Unit::one, of_medians(1000, 1000), 1000, 1000) == "1,000 instead of 1,000");
    CHECK(reporters::brief_shift_text(Unit::one, of_medians(1000, 1020), 1000) == "1.02x");
    CHECK(reporters::brief_shift_text(Unit::one, of_medians(1000, 1000), 1000) == "1.00x");
    CHECK(reporters::brief_shift_text(Unit::bytes, {false, 64, {}}, 0) == "+64 B");
    const Shift slower{true, 1.0041, std::array{1.0032, 1.0047}};
    CHECK(reporters::shift_text(Unit::seconds, slower, 1, 1.0041) == "+0.41 % (95 % interval +0.32 % to +0.47 %)");
    for (const double change : {8.0, 3000.0}) {
        const Judgement judged = judge_exact({Unit::bytes, model::Better::lower, {}, 3418000, 3418000 + change});
        CAPTURE(reporters::reason_text(judged.reason));
        CHECK(judged.verdict == Verdict::regressed);
        CHECK_THAT(reporters::reason_text(judged.reason), Contains("+") && !Contains("instead"));
    }
}

TEST_CASE("a threshold is a percentage and perhaps an amount in the metric's unit", "[unit]")
{
    CHECK(parse_threshold("5%", Unit::seconds)->relative == 0.05);
    CHECK(parse_threshold("5%", Unit::seconds)->absolute == 0);
    CHECK(parse_threshold("2.5%,1MiB", Unit::bytes)->relative == 0.025);
    CHECK(parse_threshold("2%,1MiB", Unit::bytes)->absolute == 1048576);
    CHECK(parse_threshold("0%,2ms", Unit::seconds)->absolute == 0.002);
    CHECK(parse_threshold("0%,64", Unit::one)->absolute == 64);
    CHECK(parse_threshold("5%,1GB/s", Unit::bytes_per_second)->absolute == 1e9);
}

TEST_CASE("what is no threshold is refused, whatever it is", "[unit]")
{
    for (const char* text : {"", "5", "%", "-1%", "5 %", "+5%", "5%%", "5%,", "5%,-1", "x%", "inf%", "nan%", "1e999%",
                             "5%,1MiB", "5%,2ms,3ms", "5%,1,", ",64"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_threshold(text, Unit::one));
    }
    CHECK_FALSE(parse_threshold("5%,64", Unit::seconds));  // a duration is never bare
    CHECK_FALSE(parse_threshold("5%,8M", Unit::bytes));
    const auto refused = parse_threshold(std::string(100'000, '9'), Unit::bytes);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.size() < 200);
    CHECK_THAT(refused.error().message, Contains("write 5% or 5%,1MiB"));
}
