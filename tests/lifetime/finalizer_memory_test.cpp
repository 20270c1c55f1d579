// The seed's finding, for real: after dropping 100 arrays of 8 MB and collecting, the memory is still there; counters
// and the kernel agree on it at every step.
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "core/lifetime/heap.hpp"
#include "core/memory/stack.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

namespace memsweep::lifetime {
namespace {

constexpr std::uint64_t array_bytes = 8'000'000;
constexpr std::uint64_t total_bytes = 100 * array_bytes;

double resident_bytes()
{
    std::ifstream rollup{"/proc/self/smaps_rollup"};
    for (std::string word; rollup >> word;) {
        if (word == "Rss:") {
            double kib{};
            rollup >> kib;
            return kib * 1024;
        }
    }
    return 0;
}

void check_phases(model::ResourceKind kind)
{
    memory::Counters counters;
    memory::ResourceStack stack{{kind, model::PageKind::small, 0, 0}, counters};
    Heap heap{stack.top(), {.mode = model::ReleaseMode::finalizer}};
    heap.reserve(100);
    std::vector<Buffer> arrays(100);
    const double baseline = resident_bytes();
    const auto grown_to = [baseline](std::uint64_t expected) {
        // A sanitizer keeps shadow memory and freed memory of its own.
        return tests::sanitized || std::abs(resident_bytes() - baseline - static_cast<double>(expected)) <
                                       0.03 * static_cast<double>(total_bytes);
    };

    for (Buffer& array : arrays) {
        array = heap.allocate(array_bytes, 16, false).buffer;
        if (!tests::sanitized) {
            std::memset(array.data(), 1, array_bytes);
        }
    }
    CHECK(counters.live_bytes() == total_bytes);
    CHECK(heap.stats().floating_bytes == 0);
    CHECK(grown_to(total_bytes));

    for (Buffer& array : arrays) {
        array.reset();
    }
    CHECK(counters.live_bytes() == total_bytes);
    CHECK(heap.stats().floating_bytes == total_bytes);
    CHECK(heap.stats().floating_blocks == 100);
    CHECK(heap.stats().queue_depth == 0);
    CHECK(grown_to(total_bytes));

    heap.collect();
    heap.drain();
    CHECK(counters.live_bytes() == 0);
    CHECK(counters.deallocations() == 100);
    const DisciplineStats stats = heap.stats();
    CHECK(stats.floating_bytes == 0);
    CHECK(stats.queue_depth == 0);
    CHECK(stats.queue_depth_peak == 100);
    CHECK(stats.floating_bytes_peak == total_bytes);
    if (kind == model::ResourceKind::pages) {
        CHECK(grown_to(0));  // malloc may keep what it was given back; the kernel does not
    }
}

}  // namespace

TEST_CASE("finalizer: live bytes, floating bytes and the resident set agree, from pages", "[machine]")
{
    check_phases(model::ResourceKind::pages);
}

TEST_CASE("finalizer: live bytes, floating bytes and the resident set agree, from malloc", "[machine]")
{
    check_phases(model::ResourceKind::malloc);
}

}  // namespace memsweep::lifetime
