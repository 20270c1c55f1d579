#include <chrono>

#include "core/engine/command/measured_command.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;

TEST_CASE("a program's peak is no less than what was resident at the end of its work", "[unit]")
{
    const engine::TreeSampler no_samples{false};
    const auto peak_with = [&](std::uint64_t mark, std::uint64_t at_end) {
        const engine::CommandRecord measured = engine::measured_command(
            {.max_rss_bytes = mark}, std::chrono::seconds{1}, no_samples, {.working_set_bytes = at_end});
        CHECK(measured.at_end.working_set_bytes == at_end);
        return measured.peak_working_set_bytes;
    };
    CHECK(peak_with(4'000'000, 4'300'000) == 4'300'000);
    CHECK(peak_with(4'000'000, 3'000'000) == 4'000'000);
    CHECK(peak_with(4'000'000, 0) == 4'000'000);
}
