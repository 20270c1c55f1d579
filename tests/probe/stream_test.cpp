#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/probe/kernel.hpp"
#include "core/probe/stream.hpp"
#include "core/sys/processors.hpp"
#include "tests/probe/probe_context.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using probe::Form;
using probe::Kernel;
using probe::Stream;
using probe::StreamArrays;
using sys::PinnedThreads;

namespace {

using tests::clock_here;

StreamArrays arrays_of(std::uint64_t bytes, PinnedThreads& pool)
{
    auto arrays =
        StreamArrays::make({.bytes_per_array = bytes, .pages = model::PageKind::small, .shares = pool.size()}, pool);
    REQUIRE(arrays);
    return *std::move(arrays);
}

PinnedThreads pool_of_all()
{
    auto pool = PinnedThreads::start(clock_here, sys::allowed_cpus());
    REQUIRE(pool);
    return *std::move(pool);
}

// A copy that leaves one element out, and one that does the whole chunk twice as an update must not.
std::uint64_t forgetful_copy(const probe::Operands& on) noexcept
{
    for (std::size_t i = 0; i + 1 < on.elements; ++i) {
        on.a[i] = on.b[i];
    }
    return 0;
}
std::uint64_t shifted_copy(const probe::Operands& on) noexcept
{
    for (std::size_t i = 0; i < on.elements; ++i) {
        on.a[i] = on.b[(i + 1) % on.elements];
    }
    return 0;
}
std::uint64_t doubled_update(const probe::Operands& on) noexcept
{
    for (std::size_t i = 0; i < on.elements; ++i) {
        on.a[i] += 2 * on.scalar;
    }
    return 0;
}
std::uint64_t overrunning_write(const probe::Operands& on) noexcept
{
    for (std::size_t i = 0; i < on.elements + 1; ++i) {
        on.a[i] = on.scalar;
    }
    return 0;
}
std::uint64_t short_read(const probe::Operands& on) noexcept
{
    std::uint64_t sum = 0;
    for (std::size_t i = 1; i < on.elements; ++i) {
        std::uint64_t word{};
        __builtin_memcpy(&word, on.b + i, sizeof word);
        sum += word;
    }
    return sum;
}

}  // namespace

TEST_CASE("every form is right on a pool's arrays, whether it goes over a part of them or round and round", "[machine]")
{
    PinnedThreads pool = pool_of_all();
    StreamArrays arrays = arrays_of(pool.size() * (9U << 20), pool);
    Stream stream{arrays, pool};
    for (const Form& form : probe::runnable_forms()) {
        for (const std::size_t chunks :
             {std::size_t{1}, stream.chunks_per_share(), 2 * stream.chunks_per_share() + 1}) {
            INFO(model::name_of(form.kernel) << " by " << probe::describe(form) << ", " << chunks << " chunks");
            const auto run = stream.run_checked(form, 5, chunks);
            CHECK(run.problem == "");
            CHECK(run.elements == pool.size() * chunks * arrays.chunk_elements());
            CHECK(run.seconds > 0);
        }
    }
}

TEST_CASE("wrong kernels are found out", "[machine]")
{
    PinnedThreads pool = pool_of_all();
    StreamArrays arrays = arrays_of(pool.size() * (16U << 10), pool);
    Stream stream{arrays, pool};
    const auto problem_of = [&](Kernel kernel, probe::Loop loop) {
        const Form form{.kernel = kernel, .store = probe::Store::plain, .level = "planted", .run = loop};
        return stream.run_checked(form, 5, 2).problem;
    };
    CHECK_THAT(problem_of(Kernel::copy, forgetful_copy), Catch::StartsWith("wrong data: "));
    CHECK_THAT(problem_of(Kernel::copy, shifted_copy), Catch::StartsWith("wrong data: "));
    CHECK_THAT(problem_of(Kernel::update, doubled_update), Catch::StartsWith("wrong data: "));
    CHECK_THAT(problem_of(Kernel::read, short_read), Catch::StartsWith("wrong data: the sum"));
}

TEST_CASE("what is written behind a run's last chunk is found out", "[machine]")
{
    auto pool = PinnedThreads::start(clock_here, {sys::allowed_cpus().front()});
    REQUIRE(pool);
    StreamArrays arrays = arrays_of(12U << 20, *pool);
    REQUIRE(arrays.chunks() == 3);
    Stream stream{arrays, *pool};
    const Form form{
        .kernel = Kernel::write, .store = probe::Store::plain, .level = "planted", .run = overrunning_write};
    CHECK_THAT(stream.run_checked(form, 5, 1).problem, Catch::StartsWith("wrong data: 1 of"));
}

TEST_CASE("bytes counted are bytes written", "[machine]")
{
    PinnedThreads pool = pool_of_all();
    StreamArrays arrays = arrays_of(pool.size() * (8U << 20), pool);
    Stream stream{arrays, pool};
    arrays.poison(0, arrays.chunks(), pool);
    const auto run = stream.run(*probe::simplest_form(Kernel::write, probe::Store::plain), 5, 1);
    std::uint64_t changed = 0;
    for (std::size_t chunk = 0; chunk < arrays.chunks(); ++chunk) {
        const auto on = arrays.chunk(chunk);
        for (std::size_t i = 0; i < on.elements; ++i) {
            changed += on.a[i] == 5 ? 1U : 0U;
        }
    }
    CHECK(changed == run.elements);
}

TEST_CASE("arrays lie where and on what the kernel was told", "[machine]")
{
    PinnedThreads pool = pool_of_all();
    const auto nodes = tests::context_of({}).nodes;
    for (const sys::NumaNode& node : nodes) {
        for (const model::PageKind pages : {model::PageKind::small, model::PageKind::thp}) {
            if (node.memory_bytes == 0) {
                continue;
            }
            auto arrays =
                StreamArrays::make({.bytes_per_array = 16U << 20, .pages = pages, .node = node.id, .shares = 1}, pool);
            if (!arrays && arrays.error().code == base::ErrorCode::not_supported) {
                WARN("skipped: " << model::name_of(pages) << " on node " << node.id << ": " << arrays.error().message);
                continue;
            }
            REQUIRE(arrays);
            const auto by_node = sys::pages_by_node(arrays->memory().data(), arrays->memory().size());
            REQUIRE(by_node);
            CHECK(by_node->not_resident == 0);
            CHECK(by_node->pages.size() == 1);
            CHECK(by_node->pages.contains(node.id));
            const auto got = sys::pages_got(arrays->memory().data(), arrays->memory().size());
            REQUIRE(got);
            CHECK(got->resident_bytes >= 3 * arrays->bytes_per_array());
            if (pages == model::PageKind::small) {
                CHECK(got->thp_bytes == 0);
            }
        }
    }
}

TEST_CASE("a calibration ends with the fastest, though it was slow once", "[unit]")
{
    std::map<std::size_t, int> asked;
    const std::vector<double> rates{3, 9, 4, 10, 1, 2, 8, 7, 6, 5};
    const std::size_t best = probe::fastest(rates.size(), [&](std::size_t i) {
        const bool disturbed = i == 3 && ++asked[i] > 1;
        return disturbed ? 1 : rates[i];
    });
    CHECK(best == 3);
    for (const int disturbed_round : {1, 2}) {
        int asked_of_best = 0;
        CHECK(probe::fastest(rates.size(), [&](std::size_t i) {
                  return i == 3 && ++asked_of_best == disturbed_round ? 1 : rates[i];
              }) == 3);
    }
    CHECK(probe::fastest(1, [](std::size_t) -> double { throw std::logic_error{"nothing to choose"}; }) == 0);
}
