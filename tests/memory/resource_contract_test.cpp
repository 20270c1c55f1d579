// What every resource and every adaptor promises, run over all of them.
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/base/rng.hpp"
#include "core/device/open.hpp"
#include "core/memory/adaptors.hpp"
#include "core/memory/allocator_resources.hpp"
#include "core/memory/device_resource.hpp"
#include "core/memory/page_resources.hpp"
#include "core/memory/pool.hpp"
#include "core/memory/stack.hpp"
#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_runtime.hpp"
#include "tests/support/numa_policies.hpp"
#include "tests/support/sanitized.hpp"

namespace memsweep::memory {
namespace {

constexpr std::uint64_t never = 1'000'000'000;
constexpr std::uint64_t roomy = ~std::uint64_t{0};

// An adaptor together with the malloc it stands on.
template <typename Adaptor, typename Extra>
class OverMalloc final : public MemoryResource {
  public:
    explicit OverMalloc(Extra& extra) : adaptor_{upstream_, extra} {}
    Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return adaptor_.allocate(bytes, alignment);
    }
    Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return adaptor_.allocate_zeroed(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        adaptor_.deallocate(ptr, bytes, alignment);
    }

  private:
    MallocResource upstream_;
    Adaptor adaptor_;
};

class WholeStack final : public MemoryResource {
  public:
    Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return stack_.top().allocate(bytes, alignment);
    }
    Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return stack_.top().allocate_zeroed(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        stack_.top().deallocate(ptr, bytes, alignment);
    }

  private:
    Counters counters_;
    ResourceStack stack_{{.resource = model::ResourceKind::malloc,
                          .huge_pages_from_bytes = std::uint64_t{1} << 16,
                          .limit_bytes = roomy,
                          .fail_every = never},
                         counters_};
};

class PopulatedPages final : public MemoryResource {
  public:
    Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return placement_.allocate(bytes, alignment);
    }
    Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return placement_.allocate_zeroed(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        placement_.deallocate(ptr, bytes, alignment);
    }

  private:
    PageResource pages_{model::PageKind::system};
    PlacementAdaptor placement_{pages_, {{}, true, false, sys::page_size()}};
};

class PoolPerNode final : public MemoryResource {
  public:
    PoolPerNode() : pool_{make_pool({.kind = model::PoolKind::classes, .per_node = true}, pages_, sys::page_size())} {}
    Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return pool_->allocate(bytes, alignment);
    }
    Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return pool_->allocate_zeroed(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        pool_->deallocate(ptr, bytes, alignment);
    }

  private:
    PageResource pages_{model::PageKind::system};
    std::unique_ptr<Pool> pool_;
};

class PoolOverMalloc final : public MemoryResource {
  public:
    explicit PoolOverMalloc(const model::PoolSpec& spec) : pool_{make_pool(spec, upstream_, sys::page_size())} {}
    Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return pool_->allocate(bytes, alignment);
    }
    Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return pool_->allocate_zeroed(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        pool_->deallocate(ptr, bytes, alignment);
    }

  private:
    MallocResource upstream_;
    std::unique_ptr<Pool> pool_;
};

// Memory of invented devices, or of those that OpenCL has here.
class OfARuntime final : public MemoryResource {
  public:
    OfARuntime(std::unique_ptr<device::Runtime> runtime, device::MemoryKind kind)
        : runtime_{std::move(runtime)}, memory_{*runtime_, 0, kind}
    {
    }
    ~OfARuntime() override { CHECK(runtime_->holdings().blocks == 0); }
    OfARuntime(const OfARuntime&) = delete;
    OfARuntime& operator=(const OfARuntime&) = delete;
    Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return memory_.allocate(bytes, alignment);
    }
    Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return memory_.allocate_zeroed(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        memory_.deallocate(ptr, bytes, alignment);
    }

  private:
    std::unique_ptr<device::Runtime> runtime_;
    DeviceResource memory_;
};

struct Subject {
    std::string name;
    std::function<std::unique_ptr<MemoryResource>()> make;
    bool usable{true};  // its memory may be written
    std::size_t largest_alignment{2U << 20};
    AllocStatus when_exhausted{AllocStatus::out_of_memory};
    bool threads{true};      // several may use it at once
    bool by_operator_new{};  // sanitizers end the process where it would throw
};

bool is_reached_by_host(device::MemoryKind kind)
{
    return kind != device::MemoryKind::device && kind != device::MemoryKind::mapped &&
           kind != device::MemoryKind::stream_ordered;
}

// Every kind that the runtime has.
template <typename MakeRuntime>
void add_device_memory(std::vector<Subject>& all, const std::string& name, const MakeRuntime& make_runtime)
{
    for (const device::MemoryKind kind : device::memory_kinds()) {
        if (kind != device::MemoryKind::registered && !make_runtime()->lacks(0, kind)) {
            all.push_back({name + ": " + std::string{device::name_of(kind)},
                           [kind, make_runtime] { return std::make_unique<OfARuntime>(make_runtime(), kind); },
                           is_reached_by_host(kind)});
        }
    }
}

// The ring of devices, whose environment asks PoCL for some.
bool is_on_devices()
{
    return std::getenv("POCL_DEVICES") != nullptr;
}

// Every kind of pool, scheme, topology, rule.
void add_pools(std::vector<Subject>& all)
{
    const auto add = [&all](std::string name, const model::PoolSpec& spec) {
        all.push_back({"pool: " + std::move(name), [spec] { return std::make_unique<PoolOverMalloc>(spec); }});
    };
    model::PoolSpec plain;
    plain.kind = model::PoolKind::classes;
    for (const auto& scheme : model::names<model::ClassScheme>()) {
        model::PoolSpec spec = plain;
        spec.classes = scheme.value;
        add(std::string{scheme.name}, spec);
    }
    for (const auto& topology : model::names<model::PoolTopology>()) {
        for (const auto& rule : model::names<model::Eviction>()) {
            model::PoolSpec spec = plain;
            spec.topology = topology.value;
            spec.on_full = rule.value;
            spec.thread_blocks = 2;
            spec.depot_blocks = 2;
            spec.limit_bytes = 1U << 20U;
            add(std::string{topology.name} + ", " + std::string{rule.name}, spec);
        }
    }
    for (const model::PoolKind kind : {model::PoolKind::best_fit, model::PoolKind::tlsf}) {
        model::PoolSpec spec = plain;
        spec.kind = kind;
        spec.chunk_bytes = 1U << 20U;
        add(std::string{model::name_of(kind)}, spec);
    }
    for (const auto& rule : model::names<model::ZeroRule>()) {
        model::PoolSpec spec = plain;
        spec.zeros = rule.value;
        add("zeros " + std::string{rule.name}, spec);
    }
}

std::vector<Subject> subjects()
{
    if (is_on_devices()) {
        std::vector<Subject> found;
        if (const auto opencl = device::open_opencl()) {
            add_device_memory(found, "OpenCL", [] { return *device::open_opencl(); });
        } else {
            std::cout << "no OpenCL device: " << opencl.error().message << '\n';
        }
        return found;
    }
    static Counters counters;
    static const std::uint64_t limit = roomy;
    static const std::uint64_t every = never;
    static const std::uint64_t quarantine = 1U << 20;
    static const std::uint64_t advised = 1U << 16;
    std::vector<Subject> all{
        {"malloc", [] { return std::make_unique<MallocResource>(); }},
        {"pages", [] { return std::make_unique<PageResource>(model::PageKind::system); }},
        {"4k pages", [] { return std::make_unique<PageResource>(model::PageKind::small); }},
        {"thp pages", [] { return std::make_unique<PageResource>(model::PageKind::thp); }},
        {"memfd", [] { return std::make_unique<SharedResource>(model::PageKind::system); }},
        {"memfd, thp", [] { return std::make_unique<SharedResource>(model::PageKind::thp); }},
        {"aligned", [] { return std::make_unique<AlignedResource>(4096); }},
        {"shared memory", [] { return std::make_unique<FileResource>(""); }},
        {.name = "files",
         .make = [] { return std::make_unique<FileResource>("/tmp"); },
         .when_exhausted = AllocStatus::disk_full},
        {"populated pages", [] { return std::make_unique<PopulatedPages>(); }},
        {"null", [] { return std::make_unique<NullResource>(); }, false},
        {"counting", [] { return std::make_unique<OverMalloc<CountingAdaptor, Counters>>(counters); }},
        {"limiting", [] { return std::make_unique<OverMalloc<LimitingAdaptor, const std::uint64_t>>(limit); }},
        {"failing", [] { return std::make_unique<OverMalloc<FailingAdaptor, const std::uint64_t>>(every); }},
        {"huge pages advised",
         [] { return std::make_unique<OverMalloc<HugePageAdaptor, const std::uint64_t>>(advised); }},
        {"quarantine", [] { return std::make_unique<OverMalloc<QuarantineAdaptor, const std::uint64_t>>(quarantine); }},
        {"fenced", [] { return std::make_unique<FencedResource>(false); }, true, 4096},
        {"fenced, kept", [] { return std::make_unique<FencedResource>(true); }, true, 4096},
        {"whole stack", [] { return std::make_unique<WholeStack>(); }},
    };
    static const std::string no_policies = tests::why_no_numa_policies();
    if (no_policies.empty()) {
        all.push_back({"pool per node", [] { return std::make_unique<PoolPerNode>(); }});
    } else {
        std::cout << "skipped: the contract of pools per node: " << no_policies << '\n';
    }
    for (const model::ResourceKind kind : {model::ResourceKind::pmr_new_delete, model::ResourceKind::pmr_monotonic,
                                           model::ResourceKind::pmr_unsync_pool, model::ResourceKind::pmr_sync_pool}) {
        all.push_back({.name = std::string{model::name_of(kind)},
                       .make = [kind] { return make_resource({.resource = kind}); },
                       .threads = !model::is_single_threaded(kind),
                       .by_operator_new = true});
    }
    add_device_memory(all, "invented device", [] {
        return std::make_unique<tests::FakeRuntime>(tests::FakeMachine{.memory_bytes = 1ULL << 34U});
    });
    add_pools(all);
    return all;
}

// Runs `check` on every subject under a counter of its own, which must read zero at the end.
void for_each_subject(const std::function<void(const Subject&, MemoryResource&, const Counters&)>& check)
{
    for (const Subject& subject : subjects()) {
        INFO("resource " << subject.name);
        const auto resource = subject.make();
        Counters counters;
        CountingAdaptor counted{*resource, counters};
        check(subject, counted, counters);
        CHECK(counters.live_bytes() == 0);
        CHECK(counters.allocations() == counters.deallocations());
    }
}

bool is_aligned(const void* ptr, std::size_t alignment)
{
    return reinterpret_cast<std::uintptr_t>(ptr) % alignment == 0;
}

bool all_zero(const void* ptr, std::size_t bytes)
{
    const auto* const first = static_cast<const unsigned char*>(ptr);
    return bytes == 0 || (first[0] == 0 && std::memcmp(first, first + 1, bytes - 1) == 0);
}

constexpr std::array<std::size_t, 10> sizes{0, 1, 7, 16, 24, 4095, 4096, 4097, 100'000, 3'000'000};

}  // namespace

TEST_CASE("every resource aligns as asked, for every size", "[unit][device]")
{
    for_each_subject([](const Subject& subject, MemoryResource& resource, const Counters&) {
        for (std::size_t alignment = 1; alignment <= subject.largest_alignment; alignment *= 2) {
            for (const std::size_t bytes : sizes) {
                const Allocation plain = resource.allocate(bytes, alignment);
                const Allocation zeroed = resource.allocate_zeroed(bytes, alignment);
                REQUIRE(plain.status == AllocStatus::ok);
                REQUIRE(zeroed.status == AllocStatus::ok);
                REQUIRE(plain.ptr != nullptr);
                REQUIRE(plain.ptr != zeroed.ptr);
                REQUIRE(is_aligned(plain.ptr, alignment));
                REQUIRE(is_aligned(zeroed.ptr, alignment));
                if (subject.usable) {
                    std::memset(plain.ptr, 0xA5, bytes);
                    REQUIRE(all_zero(zeroed.ptr, bytes));
                }
                resource.deallocate(plain.ptr, bytes, alignment);
                resource.deallocate(zeroed.ptr, bytes, alignment);
            }
        }
    });
}

TEST_CASE("zeroed memory reads as zeros where dirty memory was freed before", "[unit][device]")
{
    for_each_subject([](const Subject& subject, MemoryResource& resource, const Counters&) {
        if (!subject.usable) {
            return;
        }
        for (const std::size_t alignment : {std::size_t{16}, std::size_t{64}, std::size_t{4096}}) {
            for (const std::size_t bytes : sizes) {
                for (int round = 0; round < 4; ++round) {
                    const Allocation dirty = resource.allocate(bytes, alignment);
                    std::memset(dirty.ptr, 0xA5, bytes);
                    resource.deallocate(dirty.ptr, bytes, alignment);
                    const Allocation zeroed = resource.allocate_zeroed(bytes, alignment);
                    REQUIRE(all_zero(zeroed.ptr, bytes));
                    resource.deallocate(zeroed.ptr, bytes, alignment);
                }
            }
        }
    });
}

TEST_CASE("accounting is exact", "[unit][device]")
{
    for_each_subject([](const Subject&, MemoryResource& resource, const Counters& counters) {
        std::vector<Allocation> held;
        std::uint64_t total = 0;
        for (const std::size_t bytes : sizes) {
            held.push_back(resource.allocate(bytes, 16));
            total += bytes;
            REQUIRE(counters.live_bytes() == total);
        }
        CHECK(counters.live_bytes_peak() == total);
        CHECK(counters.allocated_bytes() == total);
        CHECK(counters.allocations() == sizes.size());
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            resource.deallocate(held[i].ptr, sizes[i], 16);
            total -= sizes[i];
            REQUIRE(counters.live_bytes() == total);
        }
        CHECK(counters.refusals() == 0);
    });
}

TEST_CASE("a refusal says why and leaves nothing acquired", "[unit][device]")
{
    for_each_subject([](const Subject& subject, MemoryResource& resource, const Counters& counters) {
        struct Request {
            std::size_t bytes, alignment;
            AllocStatus expected;
        };
        constexpr std::size_t more_than_addresses = std::size_t{1} << 48;
        const std::array<Request, 5> requests{{{16, 0, AllocStatus::bad_request},
                                               {16, 3, AllocStatus::bad_request},
                                               {16, std::size_t{1} << 63, AllocStatus::bad_request},
                                               {~std::size_t{0} / 2, 16, AllocStatus::bad_request},
                                               {more_than_addresses, 16, subject.when_exhausted}}};
        std::uint64_t refused = 0;
        for (const Request& request : requests) {
            // A resource without memory has any amount of it.
            const bool can_refuse = subject.usable && !(tests::sanitized && subject.by_operator_new);
            if (!can_refuse && request.bytes == more_than_addresses) {
                continue;
            }
            for (const bool zeroed : {false, true}) {
                const Allocation refusal = zeroed ? resource.allocate_zeroed(request.bytes, request.alignment)
                                                  : resource.allocate(request.bytes, request.alignment);
                INFO(request.bytes << " bytes aligned to " << request.alignment);
                CHECK(refusal.ptr == nullptr);
                CHECK(refusal.status == request.expected);
                CHECK(counters.refusals() == ++refused);
                CHECK(counters.live_bytes() == 0);
            }
        }
        // Nor may the refusals have taken room that the next request needs.
        const Allocation next = resource.allocate(100, 16);
        CHECK(next.status == AllocStatus::ok);
        resource.deallocate(next.ptr, 100, 16);
    });
}

TEST_CASE("memory may be freed by another thread", "[unit][device]")
{
    for_each_subject([](const Subject& subject, MemoryResource& resource, const Counters& counters) {
        std::vector<Allocation> held(200);
        std::thread{[&] {
            for (Allocation& allocation : held) {
                allocation = resource.allocate(5000, 16);
                if (subject.usable) {
                    std::memset(allocation.ptr, 0x5A, 5000);
                }
            }
        }}.join();
        CHECK(counters.live_bytes() == 200 * 5000);
        std::thread{[&] {
            for (const Allocation& allocation : held) {
                resource.deallocate(allocation.ptr, 5000, 16);
            }
        }}.join();
    });
}

TEST_CASE("eight threads churn, freeing what others allocated", "[unit][device]")
{
    struct Item {
        unsigned char* ptr{};
        std::size_t bytes{};
        unsigned char stamp{};
    };
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    for_each_subject([seed](const Subject& subject, MemoryResource& resource, const Counters& counters) {
        if (!subject.threads) {
            return;
        }
        std::array<std::atomic<Item*>, 32> slots{};
        std::atomic<int> spoiled{0};
        const auto free_item = [&](Item* item) {
            if (item == nullptr) {
                return;
            }
            if (subject.usable && (item->ptr[0] != item->stamp || item->ptr[item->bytes - 1] != item->stamp)) {
                ++spoiled;
            }
            resource.deallocate(item->ptr, item->bytes, 16);
            delete item;
        };
        const auto churn = [&](std::uint64_t number) {
            base::Rng rng{seed + number};
            for (int i = 0; i < 1000; ++i) {
                const std::size_t bytes = 1 + rng.below(rng.below(20) == 0 ? 300'000 : 5000);
                const Allocation allocation =
                    rng.below(2) == 0 ? resource.allocate(bytes, 16) : resource.allocate_zeroed(bytes, 16);
                if (allocation.status != AllocStatus::ok) {
                    continue;
                }
                auto* const item = new Item{static_cast<unsigned char*>(allocation.ptr), bytes,
                                            static_cast<unsigned char>(rng.next())};
                if (subject.usable) {
                    item->ptr[0] = item->stamp;
                    item->ptr[bytes - 1] = item->stamp;
                }
                free_item(slots[rng.below(slots.size())].exchange(item));
            }
        };
        std::vector<std::thread> threads;
        for (std::uint64_t number = 0; number < 8; ++number) {
            threads.emplace_back(churn, number);
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        std::uint64_t left = 0;
        for (const std::atomic<Item*>& slot : slots) {
            left += slot.load() == nullptr ? 0 : slot.load()->bytes;
        }
        CHECK(counters.live_bytes() == left);
        CHECK(counters.allocations() == 8000);
        for (std::atomic<Item*>& slot : slots) {
            free_item(slot.exchange(nullptr));
        }
        CHECK(spoiled == 0);
    });
}

}  // namespace memsweep::memory
