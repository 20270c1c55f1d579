#include "core/measure/measured_checks.hpp"

#include "tests/support/catch.hpp"

using namespace memsweep;
using model::Fitness;
using sys::TouchedChunk;

namespace {

constexpr TouchedChunk warm{0.9e-6, 0.6e-6};
constexpr TouchedChunk cold{9e-6, 0.7e-6};
constexpr std::uint64_t available = 8ULL << 30;

std::vector<TouchedChunk> chunks(std::size_t warm_ones, std::size_t cold_ones)
{
    std::vector<TouchedChunk> all(warm_ones, warm);
    all.insert(all.end(), cold_ones, cold);
    return all;
}

// 90 rounds of one millisecond, two thirds of them off by `error`, and ten that take `slowest` times as long.
std::vector<double> rounds(double error, double slowest)
{
    std::vector<double> seconds;
    for (int i = 0; i < 90; ++i) {
        seconds.push_back(i % 3 == 0 ? 0.001 : i % 3 == 1 ? 0.001 * (1 + error) : 0.001 * (1 - error));
    }
    seconds.insert(seconds.end(), 10, 0.001 * slowest);
    return seconds;
}

Fitness judged(double error, double slowest)
{
    return measure::neighbour_checks({rounds(error, slowest), {}, {}}).front().status;
}

}  // namespace

TEST_CASE("memory is cold when a first touch costs more than three second ones", "[unit]")
{
    CHECK(measure::cold_memory_check(chunks(20, 0), available).status == Fitness::ok);
    CHECK(measure::cold_memory_check(chunks(20, 1), available).status == Fitness::note);
    CHECK(measure::cold_memory_check(chunks(9, 1), available).status == Fitness::note);  // one may be an interrupt
    const auto check = measure::cold_memory_check(chunks(18, 2), available);
    CHECK(check.status == Fitness::spoils);
    CHECK(check.value.starts_with(
        "2 of 20 chunks of 8.00 MiB cold; a page costs up to 9.00 us at first, 600.0 ns again"));
    CHECK(check.command.starts_with("head -c 6144M /dev/zero"));
    REQUIRE(check.figures.size() == 3);
    CHECK(check.figures[0].value == Approx(0.1));
    CHECK(measure::cold_memory_check(chunks(0, 1), available).status == Fitness::note);
    CHECK(measure::cold_memory_check({}, available).value.empty());
}

TEST_CASE("a canary is judged by its error and by its slowest rounds", "[unit]")
{
    CHECK(judged(0, 1) == Fitness::ok);
    CHECK(judged(0.01, 1.05) == Fitness::ok);
    CHECK(judged(0.03, 1) == Fitness::note);
    CHECK(judged(0.01, 1.15) == Fitness::note);
    CHECK(judged(0.06, 1) == Fitness::spoils);
    CHECK(judged(0, 2) == Fitness::spoils);
}

TEST_CASE("steal time is judged from its share", "[unit]")
{
    const auto steal = [](std::optional<double> share) { return measure::neighbour_checks({{}, {}, share}).back(); };
    CHECK(steal(0.0).status == Fitness::ok);
    CHECK(steal(0.01).status == Fitness::note);
    CHECK(steal(0.02).status == Fitness::spoils);
    CHECK(steal(0.02).value == "2 % of all processors' time");
    CHECK(steal({}).status == Fitness::note);
    CHECK(steal({}).value.empty());
}

TEST_CASE("missing readings make notes", "[unit]")
{
    const auto checks = measure::neighbour_checks({});
    REQUIRE(checks.size() == 3);
    for (const auto& check : checks) {
        CHECK(check.status == Fitness::note);
        CHECK(check.value.empty());
        CHECK(check.figures.empty());
    }
}

TEST_CASE("a machine is busy where a canary or steal time spoils results, and the figures say so", "[unit]")
{
    CHECK_FALSE(measure::busy_machine_warning(measure::neighbour_checks({})));
    const auto warning = measure::busy_machine_warning(measure::neighbour_checks({{}, {}, 0.25}));
    REQUIRE(warning);
    CHECK(warning->code == "busy-machine");
    CHECK(warning->message.starts_with("not trustworthy here: "));
    CHECK(warning->message.find("steal: 25 % of all processors' time") != std::string::npos);
}

TEST_CASE("a result has what the canaries found, and the verdict that the warning gives", "[unit]")
{
    const model::Canary nothing = measure::canary_of(measure::neighbour_checks({}));
    CHECK(nothing.compute_error == std::nullopt);
    CHECK(nothing.steal_share == std::nullopt);
    CHECK_FALSE(nothing.is_disturbed);
    const std::vector<double> steady(40, 1e-3);
    std::vector<double> disturbed = steady;
    std::fill(disturbed.begin(), disturbed.begin() + 4, 3e-3);
    const model::Canary found = measure::canary_of(measure::neighbour_checks({steady, disturbed, 0.0}));
    CHECK(found.compute_tail == 0.0);
    CHECK(found.copy_error == 0.0);
    CHECK(found.copy_tail.value() > 0.25);
    CHECK(found.steal_share == 0.0);
    CHECK(found.is_disturbed);
}
