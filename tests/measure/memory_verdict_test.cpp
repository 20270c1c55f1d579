// One word for a program's memory, by made-up ledgers.
#include "core/measure/memory_verdict.hpp"

#include <initializer_list>
#include <utility>

#include "tests/support/catch.hpp"

namespace memsweep::tests::verdicts {
using namespace measure;
namespace {

constexpr std::uint64_t mib = 1U << 20U;
using Category = MemoryCategory;

MemoryLedger ledger_of(std::initializer_list<std::pair<Category, std::uint64_t>> figures)
{
    MemoryLedger ledger;
    for (const auto& [category, mebibytes] : figures) {
        ledger.categories.at(static_cast<std::size_t>(category)).bytes = mebibytes * mib;
    }
    ledger.sites.resize(3);
    ledger.sites[1] = {.live = 5 * mib, .blocks = 10, .left_behind = 1 * mib, .pins_alone = 2 * mib};
    ledger.sites[2] = {.live = 3 * mib, .blocks = 10, .left_behind = 9 * mib};
    return ledger;
}

MemoryVerdict verdict_of(const MemoryLedger& ledger, std::uint64_t returned,
                         std::initializer_list<SiteGrowth> growth = {SiteGrowth::none, SiteGrowth::none,
                                                                     SiteGrowth::none},
                         KnownAllocator allocator = KnownAllocator::glibc, bool small = false, bool threads = false)
{
    const TriedRequest tried{.request = "malloc_trim", .returned = returned};
    const std::vector<SiteGrowth> sites{growth};
    return memory_verdict({.ledger = &ledger,
                           .tried = &tried,
                           .growth = sites,
                           .allocator = allocator,
                           .has_small_chunks = small,
                           .has_threads = threads});
}

}  // namespace

TEST_CASE("verdict: free pages are retention where a request returns half of them, else kept", "[unit]")
{
    const MemoryLedger ledger = ledger_of({{Category::kept_free, 24}, {Category::live, 2}});
    const MemoryVerdict retention = verdict_of(ledger, 12 * mib);
    CHECK(retention.word == MemoryWord::retention);
    CHECK(retention.bytes == 24 * mib);
    CHECK(retention.site == 2U);
    CHECK(verdict_of(ledger, 12 * mib - 1).word == MemoryWord::kept);
    const TriedRequest none{.why_not = "it was killed"};
    CHECK(memory_verdict({.ledger = &ledger, .tried = &none, .allocator = KnownAllocator::glibc}).word ==
          MemoryWord::kept);
}

TEST_CASE("verdict: the largest waste that is noticed has the word", "[unit]")
{
    CHECK(verdict_of(ledger_of({{Category::holes, 20}, {Category::kept_free, 7}, {Category::live, 1}}), 7 * mib).word ==
          MemoryWord::fragmentation);
    CHECK(verdict_of(ledger_of({{Category::rounding, 6}, {Category::headers, 1}, {Category::live, 9}}), 0).word ==
          MemoryWord::rounding);
    CHECK(verdict_of(ledger_of({{Category::huge_zero, 30}, {Category::live, 1}}), 0).word == MemoryWord::huge_pages);
    CHECK(verdict_of(ledger_of({{Category::kept_free, 19}, {Category::live, 81}}), 19 * mib).word ==
          MemoryWord::in_use);
    CHECK(verdict_of(ledger_of({{Category::kept_free, 3}, {Category::live, 1}}), 3 * mib).word ==
          MemoryWord::nothing_to_change);
}

TEST_CASE("verdict: what is used has the word of its largest part", "[unit]")
{
    CHECK(verdict_of(ledger_of({{Category::live, 24}}), 0).word == MemoryWord::in_use);
    CHECK(verdict_of(ledger_of({{Category::stacks, 6}}), 0).word == MemoryWord::stacks);
    CHECK(verdict_of(ledger_of({{Category::files_data, 40}, {Category::live, 1}}), 0).word == MemoryWord::files);
    CHECK(verdict_of(ledger_of({{Category::shared, 14}}), 0).word == MemoryWord::shared);
    CHECK(verdict_of(ledger_of({{Category::mapped_by_program, 14}}), 0).word == MemoryWord::mapped_by_program);
    CHECK(verdict_of(ledger_of({{Category::recorder, 50}}), 0).word == MemoryWord::nothing_to_change);
}

TEST_CASE("verdict: a leak comes before what is used, and after larger waste", "[unit]")
{
    const auto leak = {SiteGrowth::none, SiteGrowth::leak, SiteGrowth::none};
    CHECK(verdict_of(ledger_of({{Category::live, 6}}), 0, leak).word == MemoryWord::leak);
    CHECK(verdict_of(ledger_of({{Category::live, 6}}), 0, leak).bytes == 5 * mib);
    CHECK(verdict_of(ledger_of({{Category::live, 6}}), 0, leak).site == 1U);
    CHECK(verdict_of(ledger_of({{Category::live, 6}, {Category::kept_free, 50}}), 50 * mib, leak).word ==
          MemoryWord::retention);
    const auto grows = {SiteGrowth::none, SiteGrowth::grows, SiteGrowth::none};
    CHECK(verdict_of(ledger_of({{Category::live, 6}}), 0, grows).word == MemoryWord::grows);
    CHECK(verdict_of(ledger_of({{Category::live, 60}}), 0, grows).word == MemoryWord::in_use);
}

TEST_CASE("verdict: what is lost in many pieces is a leak without growth where it is noticed", "[unit]")
{
    const auto with = [](const MemoryLedger& ledger, const std::vector<std::uint64_t>& lost,
                         const std::vector<SiteGrowth>& growth = {}) {
        return memory_verdict({.ledger = &ledger, .tried = nullptr, .growth = growth, .lost = lost});
    };
    const MemoryLedger ledger = ledger_of({{Category::live, 8}});
    const MemoryVerdict lost = with(ledger, {0, 3 * mib, 1 * mib});
    CHECK(lost.word == MemoryWord::leak);
    CHECK(lost.bytes == 4 * mib);
    CHECK(lost.site == 1U);
    CHECK_FALSE(lost.is_throughout);
    CHECK(with(ledger, {0, 3 * mib, 1 * mib - 1}).word == MemoryWord::in_use);
    CHECK(with(ledger_of({{Category::live, 60}}), {0, 4 * mib, 0}).word == MemoryWord::in_use);
    CHECK(with(ledger_of({{Category::live, 8}, {Category::kept_free, 50}}), {0, 5 * mib, 0}).word == MemoryWord::kept);
    const MemoryLedger wasteful = ledger_of({{Category::live, 10}, {Category::rounding, 6}});
    CHECK(with(wasteful, {0, 11 * mib, 0}).word == MemoryWord::rounding);
    CHECK(with(wasteful, {0, 12 * mib, 0}).word == MemoryWord::leak);
    // What grows besides counts once, with all that lives there.
    const std::vector<SiteGrowth> growth{SiteGrowth::none, SiteGrowth::leak, SiteGrowth::none};
    CHECK(with(ledger, {0, 4 * mib, 3 * mib}, growth).bytes == 5 * mib);
    CHECK(with(ledger, {0, 4 * mib, 3 * mib}, growth).is_throughout);
    CHECK(with(ledger, {4 * mib, 4 * mib, 0}, growth).bytes == 9 * mib);
    CHECK_FALSE(with(ledger, {4 * mib, 4 * mib, 0}, growth).is_throughout);
}

TEST_CASE("verdict: settings are those of the allocator and of how it keeps", "[unit]")
{
    const MemoryLedger ledger = ledger_of({{Category::kept_free, 24}});
    const auto settings = [&](KnownAllocator allocator, bool small, bool threads) {
        return verdict_of(ledger, 24 * mib, {SiteGrowth::none, SiteGrowth::none, SiteGrowth::none}, allocator, small,
                          threads)
            .settings;
    };
    using Settings = std::vector<std::string>;
    CHECK(settings(KnownAllocator::glibc, true, false) == Settings{"GLIBC_TUNABLES=glibc.malloc.mxfast=0"});
    CHECK(settings(KnownAllocator::glibc, false, true) == Settings{"GLIBC_TUNABLES=glibc.malloc.arena_max=1"});
    CHECK(settings(KnownAllocator::glibc, false, false) ==
          Settings{"GLIBC_TUNABLES=glibc.malloc.trim_threshold=131072"});
    CHECK(settings(KnownAllocator::jemalloc, false, false).size() == 1);
    CHECK(settings(KnownAllocator::other, false, false).empty());
}

TEST_CASE("verdict: words and allocators have names that are read back", "[unit]")
{
    for (std::size_t i = 0; i < memory_words; ++i) {
        const auto word = static_cast<MemoryWord>(i);
        CHECK(memory_word(name_of(word)) == word);
    }
    CHECK_FALSE(memory_word("nothing"));
    CHECK(allocator_of_file("/usr/lib/x86_64-linux-gnu/libc.so.6") == KnownAllocator::glibc);
    CHECK(allocator_of_file("/usr/lib/libjemalloc.so.2") == KnownAllocator::jemalloc);
    CHECK(allocator_of_file("libtcmalloc_minimal.so.4") == KnownAllocator::tcmalloc);
    CHECK(allocator_of_file("/opt/libmimalloc.so.2.1") == KnownAllocator::mimalloc);
    CHECK(allocator_of_file("") == KnownAllocator::other);
}

TEST_CASE("verdict: pages of the allocator beyond a tenth of its heap say that the recording does not see", "[unit]")
{
    CHECK(does_not_see(ledger_of({{Category::never_a_block, 20}, {Category::live, 50}})));
    CHECK_FALSE(does_not_see(ledger_of({{Category::never_a_block, 4}, {Category::live, 1}})));
    CHECK_FALSE(does_not_see(ledger_of({{Category::never_a_block, 9}, {Category::live, 100}})));
}

}  // namespace memsweep::tests::verdicts
