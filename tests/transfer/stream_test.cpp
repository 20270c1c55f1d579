#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/sys/numa_nodes.hpp"
#include "core/transfer/kernel_forms.hpp"
#include "core/transfer/stream.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using transfer::Form;
using transfer::Gang;
using transfer::Kernel;
using transfer::Stream;
using transfer::StreamArrays;

namespace {

const sys::SystemClock clock_here;

StreamArrays arrays_of(std::uint64_t bytes, Gang& gang)
{
    auto arrays =
        StreamArrays::make({.bytes_per_array = bytes, .pages = sys::PageSize::small, .shares = gang.size()}, gang);
    REQUIRE(arrays);
    return *std::move(arrays);
}

Gang gang_of_all()
{
    auto gang = Gang::start(clock_here, sys::allowed_cpus());
    REQUIRE(gang);
    return *std::move(gang);
}

// A copy that leaves one element out, and one that does the whole chunk twice as an update must not.
std::uint64_t forgetful_copy(const transfer::Operands& on) noexcept
{
    for (std::size_t i = 0; i + 1 < on.elements; ++i) {
        on.a[i] = on.b[i];
    }
    return 0;
}
std::uint64_t shifted_copy(const transfer::Operands& on) noexcept
{
    for (std::size_t i = 0; i < on.elements; ++i) {
        on.a[i] = on.b[(i + 1) % on.elements];
    }
    return 0;
}
std::uint64_t doubled_update(const transfer::Operands& on) noexcept
{
    for (std::size_t i = 0; i < on.elements; ++i) {
        on.a[i] += 2 * on.scalar;
    }
    return 0;
}
std::uint64_t overrunning_write(const transfer::Operands& on) noexcept
{
    for (std::size_t i = 0; i < on.elements + 1; ++i) {
        on.a[i] = on.scalar;
    }
    return 0;
}
std::uint64_t short_read(const transfer::Operands& on) noexcept
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

TEST_CASE("every form is right on a gang's arrays, whether it goes over a part of them or round and round", "[machine]")
{
    Gang gang = gang_of_all();
    StreamArrays arrays = arrays_of(gang.size() * (9U << 20), gang);
    Stream stream{arrays, gang};
    for (const Form& form : transfer::runnable_forms()) {
        for (const std::size_t chunks :
             {std::size_t{1}, stream.chunks_per_share(), 2 * stream.chunks_per_share() + 1}) {
            INFO(model::name_of(form.kernel) << " by " << transfer::describe(form) << ", " << chunks << " chunks");
            const auto run = stream.run_checked(form, 5, chunks);
            CHECK(run.problem == "");
            CHECK(run.elements == gang.size() * chunks * arrays.chunk_elements());
            CHECK(run.seconds > 0);
        }
    }
}

TEST_CASE("wrong kernels are found out", "[machine]")
{
    Gang gang = gang_of_all();
    StreamArrays arrays = arrays_of(gang.size() * (16U << 10), gang);
    Stream stream{arrays, gang};
    const auto problem_of = [&](Kernel kernel, transfer::Loop loop) {
        const Form form{.kernel = kernel, .store = transfer::Store::plain, .level = "planted", .run = loop};
        return stream.run_checked(form, 5, 2).problem;
    };
    CHECK_THAT(problem_of(Kernel::copy, forgetful_copy), Catch::StartsWith("wrong data: "));
    CHECK_THAT(problem_of(Kernel::copy, shifted_copy), Catch::StartsWith("wrong data: "));
    CHECK_THAT(problem_of(Kernel::update, doubled_update), Catch::StartsWith("wrong data: "));
    CHECK_THAT(problem_of(Kernel::read, short_read), Catch::StartsWith("wrong data: the sum"));
}

TEST_CASE("what is written behind a run's last chunk is found out", "[machine]")
{
    auto gang = Gang::start(clock_here, {sys::allowed_cpus().front()});
    REQUIRE(gang);
    StreamArrays arrays = arrays_of(12U << 20, *gang);
    REQUIRE(arrays.chunks() == 3);
    Stream stream{arrays, *gang};
    const Form form{
        .kernel = Kernel::write, .store = transfer::Store::plain, .level = "planted", .run = overrunning_write};
    CHECK_THAT(stream.run_checked(form, 5, 1).problem, Catch::StartsWith("wrong data: 1 of"));
}

TEST_CASE("bytes counted are bytes written", "[machine]")
{
    Gang gang = gang_of_all();
    StreamArrays arrays = arrays_of(gang.size() * (8U << 20), gang);
    Stream stream{arrays, gang};
    arrays.poison(0, arrays.chunks(), gang);
    const auto run = stream.run(*transfer::simplest_form(Kernel::write, transfer::Store::plain), 5, 1);
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
    Gang gang = gang_of_all();
    for (const sys::NumaNode& node : sys::numa_nodes()) {
        for (const sys::PageSize pages : {sys::PageSize::small, sys::PageSize::thp}) {
            if (node.memory_bytes == 0) {
                continue;
            }
            auto arrays =
                StreamArrays::make({.bytes_per_array = 16U << 20, .pages = pages, .node = node.id, .shares = 1}, gang);
            if (!arrays && arrays.error().code == base::ErrorCode::not_supported) {
                WARN("skipped: " << model::name_of(pages) << " on node " << node.id << ": " << arrays.error().message);
                continue;
            }
            REQUIRE(arrays);
            const auto by_node = arrays->pages_by_node();
            REQUIRE(by_node);
            CHECK(by_node->not_resident == 0);
            CHECK(by_node->pages.size() == 1);
            CHECK(by_node->pages.contains(node.id));
            const auto got = arrays->pages_got();
            REQUIRE(got);
            CHECK(got->resident_bytes >= 3 * arrays->bytes_per_array());
            if (pages == sys::PageSize::small) {
                CHECK(sys::is_as_asked(*got, pages));
            }
        }
    }
}

TEST_CASE("a calibration ends with the fastest, though it was slow once", "[unit]")
{
    std::map<std::size_t, int> asked;
    const std::vector<double> rates{3, 9, 4, 10, 1, 2, 8, 7, 6, 5};
    const std::size_t best = transfer::fastest(rates.size(), [&](std::size_t i) {
        const bool disturbed = i == 3 && ++asked[i] > 1;
        return disturbed ? 1 : rates[i];
    });
    CHECK(best == 3);
    CHECK(transfer::fastest(1, [](std::size_t) -> double { throw std::logic_error{"nothing to choose"}; }) == 0);
}

TEST_CASE("a gang starts together and is timed from the first start to the last end", "[machine]")
{
    Gang gang = gang_of_all();
    std::vector<int> ran(gang.size());
    std::chrono::nanoseconds inside{};
    const auto outside_begin = clock_here.now();
    const auto time = gang.run([&](std::size_t number) {
        const auto begin = clock_here.now();
        clock_here.sleep_for(std::chrono::milliseconds{number == 0 ? 5 : 1});
        ++ran[number];
        if (number == 0) {
            inside = clock_here.now() - begin;
        }
    });
    CHECK(ran == std::vector<int>(gang.size(), 1));
    CHECK(time >= inside);
    CHECK(time <= clock_here.now() - outside_begin);
    CHECK_FALSE(Gang::start(clock_here, {}));
    CHECK_FALSE(Gang::start(clock_here, {60'000}));
}
