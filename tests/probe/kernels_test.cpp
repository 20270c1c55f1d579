// Every form that this processor can run, against the arithmetic written out.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/probe/kernel.hpp"
#include "core/probe/stream.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using probe::Form;
using probe::Kernel;
using probe::Store;

namespace {

constexpr std::size_t guard_elements = 16;

// Arrays at chosen offsets from a line, with elements before and behind that nothing may write.
struct Arrays {
    Arrays(std::size_t count, std::size_t offset_a, std::size_t offset_b, std::size_t offset_c)
        : storage(3 * (count + 3 * guard_elements)), elements{count}
    {
        const auto address = reinterpret_cast<std::uintptr_t>(storage.data());
        double* const line = storage.data() + (64 - address % 64) % 64 / sizeof(double);
        const std::size_t apart = (count + 2 * guard_elements + 7) / 8 * 8;
        a = line + guard_elements + offset_a;
        b = line + guard_elements + apart + offset_b;
        c = line + guard_elements + 2 * apart + offset_c;
        for (std::size_t i = 0; i < count; ++i) {
            b[i] = probe::b_at(i);
            c[i] = probe::c_at(i);
        }
        for (std::size_t i = 0; i < count; ++i) {
            a[i] = probe::poison_at(i);
        }
        a[-1] = before;
        a[count] = behind;
    }

    [[nodiscard]] std::size_t wrong(Kernel kernel, double scalar) const
    {
        std::size_t count = 0;
        for (std::size_t i = 0; i < elements; ++i) {
            count += std::bit_cast<std::uint64_t>(a[i]) != probe::expected_bits(kernel, i, scalar, 1) ? 1U : 0U;
        }
        return count;
    }
    [[nodiscard]] std::uint64_t sum_of_b() const
    {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < elements; ++i) {
            sum += std::bit_cast<std::uint64_t>(b[i]);
        }
        return sum;
    }

    std::vector<double> storage;
    std::size_t elements;
    double *a{}, *b{}, *c{};
    double before{-1}, behind{-2};
};

void check(const Form& form, std::size_t elements, std::size_t offset_a, std::size_t offset_b, std::size_t offset_c)
{
    Arrays arrays{elements, offset_a, offset_b, offset_c};
    const double scalar = 7;
    const std::uint64_t sum =
        form.run({.a = arrays.a, .b = arrays.b, .c = arrays.c, .elements = elements, .scalar = scalar});
    INFO(model::name_of(form.kernel) << " by " << probe::describe(form) << ", " << elements << " elements at "
                                     << offset_a << ", " << offset_b << ", " << offset_c);
    CHECK(arrays.wrong(form.kernel, scalar) == 0);
    CHECK(sum == (form.kernel == Kernel::read ? arrays.sum_of_b() : 0));
    CHECK(arrays.a[-1] == arrays.before);
    CHECK(arrays.a[elements] == arrays.behind);
}

}  // namespace

TEST_CASE("every form leaves exactly the right data, at odd sizes and alignments", "[machine]")
{
    for (const Form& form : probe::runnable_forms()) {
        for (const std::size_t elements :
             {0U, 1U, 7U, 8U, 9U, 31U, 63U, 511U, 2048U + 13U, 8U * 512U, 9U * 512U + 5U}) {
            check(form, elements, 0, 0, 0);
            check(form, elements, 3, 5, 1);
            check(form, elements, 7, 0, 2);
        }
    }
}

TEST_CASE("forms of a kernel are told apart by their description", "[machine]")
{
    std::set<std::string> seen;
    for (const Form& form : probe::runnable_forms()) {
        CHECK(seen.insert(std::string{model::name_of(form.kernel)} + " " + probe::describe(form)).second);
    }
    for (const auto& kernel : model::names<Kernel>()) {
        CHECK_FALSE(probe::candidates(kernel.value).empty());
    }
}

TEST_CASE("a calibration of reads chooses among 2 and 4 pages in turn, line by line too", "[machine]")
{
    const auto tries = [](std::uint32_t pages, std::uint32_t prefetch_bytes) {
        const std::vector<const Form*> among = probe::candidates(Kernel::read);
        return std::ranges::any_of(among, [&](const Form* form) {
            return form->pages == pages && form->prefetch_bytes == prefetch_bytes && form->lines_per_turn == 1;
        });
    };
    for (const std::uint32_t pages : {2U, 4U, 8U}) {
        INFO(pages << " pages");
        CHECK(tries(pages, 0));
        CHECK(tries(pages, 1024) == (pages < 8));
    }
}

TEST_CASE("bytes are counted as STREAM counts them, and on the bus", "[unit]")
{
    const auto bytes = [](Kernel kernel, Store store) { return probe::bytes_per_element(kernel, store); };
    CHECK(bytes(Kernel::read, Store::none).stream == 8);
    CHECK(bytes(Kernel::read, Store::none).bus == 8U);
    CHECK(bytes(Kernel::write, Store::plain).stream == 8);
    CHECK(bytes(Kernel::write, Store::plain).bus == 16U);
    CHECK(bytes(Kernel::write, Store::nt).bus == 8U);
    CHECK(bytes(Kernel::copy, Store::plain).payload == 8);
    CHECK(bytes(Kernel::copy, Store::plain).stream == 16);
    CHECK(bytes(Kernel::copy, Store::plain).bus == 24U);
    CHECK(bytes(Kernel::copy, Store::nt).bus == 16U);
    CHECK(bytes(Kernel::triad, Store::plain).stream == 24);
    CHECK(bytes(Kernel::triad, Store::plain).bus == 32U);
    CHECK(bytes(Kernel::add, Store::nt).bus == 24U);
    CHECK(bytes(Kernel::update, Store::plain).stream == 16);
    CHECK(bytes(Kernel::update, Store::plain).bus == 16U);
    CHECK(bytes(Kernel::memset, Store::opaque).stream == 8);
    CHECK_FALSE(bytes(Kernel::memcpy, Store::opaque).bus.has_value());
}
