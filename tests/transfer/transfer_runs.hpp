// Transfers on invented devices, a turn at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/transfer.hpp"
#include "core/transfer/transfer_set.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_environment.hpp"
#include "tests/support/fake_runtime.hpp"

namespace memsweep::tests {

inline model::TransferJob job(const char* text, std::uint64_t bytes = 1000, std::uint32_t priority = 5)
{
    return {*model::parse_transfer(text), bytes, priority};
}

inline model::TransferOptions small_chunks(model::Strategy strategy = model::Strategy::automatic)
{
    model::TransferOptions options;
    options.strategy = strategy;
    options.chunk_bytes = 96;
    options.slots = 3;
    options.threads = 1;
    return options;
}

// Runs a turn, looks at the data, and leaves nothing behind.
inline transfer::TransferStatistics run(FakeRuntime& runtime, const std::vector<model::TransferJob>& jobs,
                                        const model::TransferOptions& options, std::uint64_t turns = 1)
{
    const FakeClock clock;
    transfer::TransferStatistics statistics;
    {
        auto set = transfer::TransferSet::make(runtime, clock, jobs, options);
        INFO((set ? std::string{} : set.error().message));
        REQUIRE(set);
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
            const auto ran = set->run_turn();
            INFO((ran ? std::string{} : ran.error().message));
            REQUIRE(ran);
        }
        const auto wrong = set->check();
        REQUIRE(wrong);
        CHECK(*wrong == "");
        statistics = set->statistics();
    }
    CHECK(runtime.holdings() == device::Holdings{});
    CHECK(statistics.wrong_bytes == 0);
    return statistics;
}

}  // namespace memsweep::tests
