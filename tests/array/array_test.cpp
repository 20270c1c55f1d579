// Creating arrays: what is asked of the heap, what is written, what is refused.
#include <array>

#include "core/array/kernels.hpp"
#include "core/memory/page_resources.hpp"
#include "tests/array/rig.hpp"
#include "tests/memory/residency.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::array {
namespace {

using memory::AllocStatus;
using model::DType;
using model::Fill;
using model::Touch;
using tests::element;
using tests::Rig;

// Malloc, but what it gives is dirty unless zeroed memory was asked for, and it reports which was asked.
class DirtyResource final : public memory::MemoryResource {
  public:
    memory::Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        ++plain;
        const memory::Allocation allocation = malloc_.allocate(bytes, alignment);
        std::memset(allocation.ptr, 0xA5, bytes);
        return allocation;
    }
    memory::Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        ++zeroed;
        return malloc_.allocate_zeroed(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        malloc_.deallocate(ptr, bytes, alignment);
    }

    int plain{};
    int zeroed{};

  private:
    memory::MallocResource malloc_;
};

bool all_bytes(const Array& array, unsigned char value)
{
    const auto* const bytes = static_cast<const unsigned char*>(array.data());
    return bytes[0] == value && std::memcmp(bytes, bytes + 1, array.bytes() - 1) == 0;
}

}  // namespace

TEST_CASE("zeros come from zeroed memory unless every byte is to be written", "[unit]")
{
    constexpr std::array<std::uint64_t, 1> shape{50'000};
    for (const Touch touch : {Touch::none, Touch::page, Touch::full}) {
        DirtyResource resource;
        lifetime::Heap heap{resource, {}};
        const Array zeros = Array::create(heap, DType::float64, shape, Fill::zeros, touch).array;
        CHECK(resource.zeroed == (touch == Touch::full ? 0 : 1));
        CHECK(resource.plain == (touch == Touch::full ? 1 : 0));
        CHECK(all_bytes(zeros, 0));
    }
}

TEST_CASE("ones and arange write everything, whatever the touch", "[unit]")
{
    constexpr std::array<std::uint64_t, 1> shape{1000};
    for (const Touch touch : {Touch::none, Touch::page, Touch::full}) {
        DirtyResource resource;
        lifetime::Heap heap{resource, {}};
        const Array ones = Array::create(heap, DType::float64, shape, Fill::ones, touch).array;
        const Array arange = Array::create(heap, DType::float64, shape, Fill::arange, touch).array;
        CHECK(resource.plain == 2);
        CHECK(resource.zeroed == 0);
        for (std::uint64_t i = 0; i < 1000; ++i) {
            REQUIRE(element<double>(ones, {i}) == 1.0);
            REQUIRE(element<double>(arange, {i}) == static_cast<double>(i));
        }
    }
}

TEST_CASE("without a fill only the touch writes", "[unit]")
{
    constexpr std::array<std::uint64_t, 1> shape{50'000};
    DirtyResource resource;
    lifetime::Heap heap{resource, {}};
    CHECK(all_bytes(Array::create(heap, DType::uint8, shape, Fill::none, Touch::none).array, 0xA5));
    CHECK(all_bytes(Array::create(heap, DType::uint8, shape, Fill::none, Touch::full).array, 0));
    const Array paged = Array::create(heap, DType::uint8, shape, Fill::none, Touch::page).array;
    std::uint64_t written = 0;
    for (std::uint64_t i = 0; i < 50'000; ++i) {
        written += element<unsigned char>(paged, {i}) == 0 ? 1U : 0U;
    }
    CHECK(written == pages_spanned(paged.data(), paged.bytes(), tests::page_bytes()));
    CHECK(resource.zeroed == 0);
}

TEST_CASE("residency follows the touch", "[machine]")
{
    memory::PageResource pages{model::PageKind::small};
    lifetime::Heap heap{pages, {}};
    constexpr std::array<std::uint64_t, 1> shape{1'000'000};  // 1953.1 pages of 4 KiB
    const auto all = static_cast<std::int64_t>((8'000'000 + tests::page_bytes() - 1) / tests::page_bytes());
    const auto resident = [&](Fill fill, Touch touch) {
        const Array array = Array::create(heap, DType::float64, shape, fill, touch).array;
        return tests::resident_pages(array.data(), array.bytes());
    };
    CHECK(resident(Fill::none, Touch::none) == 0);
    CHECK(resident(Fill::zeros, Touch::none) == 0);
    CHECK(resident(Fill::none, Touch::page) == all);
    CHECK(resident(Fill::zeros, Touch::page) == all);
    CHECK(resident(Fill::none, Touch::full) == all);
    CHECK(resident(Fill::zeros, Touch::full) == all);
    CHECK(resident(Fill::ones, Touch::none) == all);
    CHECK(resident(Fill::arange, Touch::none) == all);
}

TEST_CASE_METHOD(Rig, "every dtype can be made, measured and freed", "[unit]")
{
    for (const auto& dtype : model::names<DType>()) {
        INFO(dtype.name);
        for (const Fill fill : {Fill::none, Fill::zeros, Fill::ones, Fill::arange}) {
            const Array array = make(dtype.value, {3, 5}, fill);
            CHECK(array.dtype() == dtype.value);
            CHECK(array.bytes() == 15 * model::size_bytes(dtype.value));
            CHECK(counters.live_bytes() == array.bytes());
            CHECK(array.is_contiguous());
            CHECK(reinterpret_cast<std::uintptr_t>(array.data()) % 16 == 0);
        }
        CHECK(counters.live_bytes() == 0);
    }
}

TEST_CASE_METHOD(Rig, "shapes without dimensions and with empty ones are arrays", "[unit]")
{
    const Array scalar = make(DType::int64, {}, Fill::ones);
    CHECK(scalar.elements() == 1);
    CHECK(scalar.bytes() == 8);
    CHECK(element<std::int64_t>(scalar, {}) == 1);
    const Array empty = make(DType::int64, {4, 0, 3}, Fill::arange, Touch::full);
    CHECK(empty);
    CHECK(empty.elements() == 0);
    CHECK(empty.is_contiguous());
    CHECK(empty.copy(heap).status == AllocStatus::ok);
    const Array none;
    CHECK_FALSE(none);
}

TEST_CASE_METHOD(Rig, "a shape that cannot be is refused before anything is asked of the heap", "[unit]")
{
    const std::array<std::uint64_t, 9> nine{1, 1, 1, 1, 1, 1, 1, 1, 1};
    CHECK(Array::create(heap, DType::int8, nine, Fill::none, Touch::none).status == AllocStatus::bad_request);
    const std::array<std::uint64_t, 2> product{std::uint64_t{1} << 32, std::uint64_t{1} << 32};
    CHECK(Array::create(heap, DType::int8, product, Fill::none, Touch::none).status == AllocStatus::bad_request);
    const std::array<std::uint64_t, 1> elements{std::uint64_t{1} << 60};
    CHECK(Array::create(heap, DType::float64, elements, Fill::none, Touch::none).status == AllocStatus::bad_request);
    CHECK(counters.allocations() == 0);
    CHECK(counters.refusals() == 0);
}

TEST_CASE_METHOD(Rig, "an array over a wrap owns nothing", "[unit]")
{
    std::array<std::int64_t, 6> memory{0, 1, 2, 3, 4, 5};
    const std::array<std::uint64_t, 2> shape{2, 3};
    const auto made = Array::over(lifetime::Buffer::wrap(memory.data(), sizeof memory), DType::int64, shape);
    REQUIRE(made.status == AllocStatus::ok);
    CHECK(element<std::int64_t>(made.array, {1, 2}) == 5);
    CHECK(made.array.transpose().buffer().use_count() == 0);
    const std::array<std::uint64_t, 2> larger{2, 4};
    CHECK(Array::over(lifetime::Buffer::wrap(memory.data(), sizeof memory), DType::int64, larger).status ==
          AllocStatus::bad_request);
}

}  // namespace memsweep::array
