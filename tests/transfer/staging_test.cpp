// Rings of slots: into which chunks and parts a staged transfer goes, through how many rings, and that all of it
// arrives.
#include <cstdint>
#include <utility>
#include <vector>

#include "core/transfer/async_copy.hpp"
#include "tests/transfer/transfer_runs.hpp"

namespace memsweep::tests {

using model::Strategy;
using model::TransferOptions;

TEST_CASE("a ring takes no more slots than it has, and one where it may not pipeline", "[unit]")
{
    FakeRuntime runtime;
    TransferOptions options = small_chunks();
    CHECK(run(runtime, {job("host -> gpu0.ce -> gpu0")}, options).pinned_bytes_peak == 3 * 96);
    options.pipeline = false;
    CHECK(run(runtime, {job("host -> gpu0.ce -> gpu0")}, options).pinned_bytes_peak == 96);
    options.pipeline = true;
    options.offset_bytes = 123;
    CHECK(run(runtime, {job("host -> gpu0.ce -> gpu0"), job("gpu1 -> gpu1.ce -> host")}, options).all_bytes() == 2000);
    options.adaptive = true;
    options.chunk_bytes = 1U << 20U;
    const auto adapted = run(runtime, {job("host -> gpu0.ce -> gpu0", 8U << 20U)}, options);
    CHECK(adapted.smallest_chunk_bytes < adapted.largest_chunk_bytes);
    CHECK(adapted.largest_chunk_bytes <= 1U << 20U);
}

TEST_CASE("several rings carry each its part, and count as one transfer", "[unit]")
{
    for (const char* text : {"host -> gpu0.ce -> gpu0", "gpu0 -> gpu0.ce -> host"}) {
        for (const std::uint64_t bytes : {1ULL, 96ULL, 97ULL, 1000ULL, 5001ULL}) {
            for (const std::uint32_t threads : {2U, 3U, 7U}) {
                INFO(text << " of " << bytes << " by " << threads);
                FakeRuntime runtime;
                TransferOptions options = small_chunks(Strategy::staged);
                options.threads = threads;
                const auto statistics = run(runtime, {job(text, bytes)}, options, 5);
                CHECK(statistics.all_bytes() == 5 * bytes);
                CHECK(statistics.all_transfers() == 5);
                CHECK(statistics.chunks == 5 * ((bytes + 95) / 96));
                CHECK(statistics.staged_bytes == 5 * bytes);
                CHECK(statistics.most_at_once == 1);
            }
        }
    }
    FakeRuntime runtime;
    TransferOptions options = small_chunks(Strategy::staged);
    options.threads = 2;
    CHECK(run(runtime, {job("host -> gpu0.ce -> gpu0")}, options).pinned_bytes_peak == 2 * 3 * 96);
    options.fresh = true;
    CHECK(run(runtime, {job("host -> gpu0.ce -> gpu0"), job("gpu1 -> gpu1.ce -> host")}, options, 2).all_bytes() ==
          4000);
    options.adaptive = true;
    options.chunk_bytes = 1U << 18U;
    CHECK(run(runtime, {job("host -> gpu0.ce -> gpu0", 8U << 20U)}, options).all_bytes() == 8U << 20U);
}

TEST_CASE("parts of rings are whole chunks and cover a transfer, whatever its size", "[unit]")
{
    const TransferOptions options = small_chunks();
    for (std::uint64_t bytes = 1; bytes < 2000; bytes += 13) {
        for (const std::uint32_t rings : {1U, 2U, 5U, 64U}) {
            INFO(bytes << " bytes, " << rings << " rings");
            const auto parts = transfer::parts_of(job("host -> gpu0.ce -> gpu0", bytes), options, rings);
            std::uint64_t next = 0;
            for (const transfer::Part& part : parts) {
                CHECK(part.first_byte == next);
                CHECK(part.first_byte % options.chunk_bytes == 0);
                CHECK(part.bytes > 0);
                next += part.bytes;
            }
            CHECK(next == bytes);
            CHECK(parts.size() <= rings);
        }
    }
}

TEST_CASE("a chunk that nobody asked for grows with the root of a staged transfer's bytes", "[unit]")
{
    constexpr std::uint64_t kib = 1U << 10U;
    constexpr std::uint64_t mib = 1U << 20U;
    const auto chunk = [](std::uint64_t bytes, const TransferOptions& options = {},
                          Strategy strategy = Strategy::staged) {
        return transfer::chunk_bytes_of(job("host -> gpu0.ce -> gpu0", bytes), options, strategy);
    };
    for (const auto& [bytes, expected] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 64 * kib},
                                                                                              {64 * kib, 64 * kib},
                                                                                              {256 * kib, 128 * kib},
                                                                                              {mib - 1, 128 * kib},
                                                                                              {mib, 256 * kib},
                                                                                              {16 * mib, mib},
                                                                                              {256 * mib, 4 * mib},
                                                                                              {mib * mib, 4 * mib},
                                                                                              {~0ULL, 4 * mib}}) {
        INFO(bytes);
        CHECK(chunk(bytes) == expected);
        CHECK(chunk(bytes, {}, Strategy::host) == 4 * mib);
    }
    TransferOptions options;
    options.adaptive = true;
    CHECK(chunk(mib, options) == 4 * mib);
    options.chunk_bytes = 96;
    CHECK(chunk(mib, options) == 96);

    FakeRuntime runtime;
    TransferOptions by_one;
    by_one.threads = 1;
    by_one.strategy = Strategy::staged;
    const auto statistics =
        run(runtime, {job("host -> gpu0.ce -> gpu0", mib + 1), job("gpu0 -> gpu0.ce -> host", 100)}, by_one);
    CHECK(statistics.chunks == 5 + 1);
    CHECK(statistics.largest_chunk_bytes == 256 * kib);
    CHECK(statistics.smallest_chunk_bytes == 1);
}

TEST_CASE("a ring for every two processors, as far as transfers, chunks and pinned memory go round", "[unit]")
{
    constexpr std::uint64_t mib = 1U << 20U;
    struct Machine {
        std::size_t processors, at_once;
        std::uint64_t bytes;
        std::uint32_t rings;
        std::uint64_t may_pin{1024 * mib};
    };
    TransferOptions options;  // two slots
    options.chunk_bytes = 4 * mib;
    for (const Machine& here : {Machine{1, 1, 64 * mib, 1}, Machine{2, 1, 64 * mib, 1}, Machine{4, 1, 64 * mib, 2},
                                Machine{8, 1, 64 * mib, 4}, Machine{16, 1, 64 * mib, 8}, Machine{128, 1, 256 * mib, 8},
                                Machine{16, 2, 64 * mib, 4}, Machine{16, 16, 64 * mib, 1}, Machine{16, 1, 32 * mib, 4},
                                Machine{16, 1, 8 * mib, 1}, Machine{16, 1, 1, 1}, Machine{16, 1, 64 * mib, 8, 64 * mib},
                                Machine{16, 1, 64 * mib, 4, 63 * mib}, Machine{16, 1, 64 * mib, 1, 8 * mib},
                                Machine{16, 1, 64 * mib, 1, 0}}) {
        INFO(here.processors << " processors, " << here.at_once << " at once, " << here.bytes << ", may pin "
                             << here.may_pin);
        const transfer::StagingMeans means{here.processors, here.at_once, here.may_pin};
        CHECK(transfer::rings_of(job("host -> gpu0.ce -> gpu0", here.bytes), options, means) == here.rings);
        CHECK(transfer::rings_of(job("gpu0 -> gpu0.ce -> gpu1", here.bytes), options, means) == 1);
    }
    const transfer::StagingMeans few{.processors = 2, .transfers_at_once = 3, .slots_bytes = mib};
    TransferOptions asked = options;
    asked.threads = 6;
    CHECK(transfer::rings_of(job("host -> gpu0.ce -> gpu0", 64 * mib), asked, few) == 6);
    CHECK(transfer::rings_of(job("host -> gpu0.ce -> gpu0", 5 * mib), asked, few) == 2);  // two chunks
    TransferOptions in_turn = options;
    in_turn.pipeline = false;
    CHECK(transfer::rings_of(job("host -> gpu0.ce -> gpu0", 64 * mib), in_turn, {16, 1, 1024 * mib}) == 1);
}

}  // namespace memsweep::tests
