// Which cause a cliff is given: the limit must lie where the cliff does, under these settings and in this version.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/measure/cliffs.hpp"
#include "reporters/wording/cliff_words.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::measure {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mebibyte = 1024 * kib;

// The words of the cause, or "": none is named.
std::string cause(std::string_view allocator, std::string_view version, const model::Variables& settings,
                  CliffKind kind, std::uint64_t last_cheap)
{
    const auto found =
        find_cause({allocator, version, settings}, {kind, {.bytes = last_cheap}, {.bytes = last_cheap + 1}});
    return found ? reporters::limit_text(found->limit) : "";
}

model::Variables tunables(const char* text)
{
    return {{"GLIBC_TUNABLES", text}};
}

model::Variables conf(const char* text)
{
    return {{"MALLOC_CONF", text}};
}

struct Known {
    std::string_view allocator, version;
    model::Variables settings;
    CliffKind kind;
    std::uint64_t last_cheap;
    std::string_view word;  // of the cause
};

}  // namespace

TEST_CASE("every limit of an allocator is named at its size, and only there", "[unit]")
{
    constexpr auto time = CliffKind::time;
    constexpr auto faults = CliffKind::faults;
    const model::Variables none;
    for (const Known& known : {
             Known{"glibc", "2.36", none, time, 1032, "thread cache"},
             {"glibc", "", none, time, 1032, "thread cache"},
             {"glibc", "2.42", none, time, 1032, "thread cache"},
             {"glibc", "2.36", tunables("glibc.malloc.tcache_max=512"), time, 520, "thread cache"},
             {"glibc", "2.36", tunables("glibc.malloc.tcache_max=100:glibc.malloc.tcache_max=500"), time, 504,
              "thread cache"},
             {"glibc", "2.36", tunables("glibc.malloc.tcache_max=65536"), time, 1032, "thread cache"},
             {"glibc", "2.42", tunables("glibc.malloc.tcache_max=65536"), time, 65'544, "thread cache"},
             {"glibc", "2.36", tunables("glibc.malloc.tcache_count=0"), time, 120, "fast bins"},
             {"glibc", "2.25", none, time, 120, "fast bins"},
             {"glibc", "2.36", tunables("glibc.malloc.tcache_count=0:glibc.malloc.mxfast=80"), time, 72, "fast bins"},
             {"glibc", "2.36", none, faults, 33'550'312, "32 MiB"},
             {"glibc", "2.36", tunables("glibc.malloc.mmap_threshold=1048576"), faults, mebibyte - 24,
              "mmap threshold"},
             {"glibc", "2.36", {{"MALLOC_TOP_PAD_", "0"}}, faults, 128 * kib - 24, "mmap threshold"},
             {"glibc", "2.36", tunables("glibc.malloc.mmap_max=0"), faults, 100 * kib, "trim threshold"},
             {"jemalloc", "5.3.0-0-g54eaed1", none, time, 32 * kib, "tcache_max"},
             {"jemalloc", "5.2.1", none, time, 32 * kib, "lg_tcache_max"},
             {"jemalloc", "5.3.0", conf("tcache_max:65536"), time, 64 * kib, "tcache_max"},
             {"jemalloc", "5.3.0", conf("abort:false,lg_tcache_max:12"), time, 4 * kib, "tcache_max"},
             {"jemalloc", "5.3.0", conf("tcache_max:5000"), time, 5 * kib, "tcache_max"},
             {"jemalloc", "5.3.0", conf("tcache:false"), time, 14 * kib, "largest small class"},
             {"jemalloc", "5.3.0", none, faults, 7 * mebibyte, "oversize_threshold"},
             {"jemalloc", "5.3.0", conf("oversize_threshold:4194304"), faults, 3584 * kib, "oversize_threshold"},
             {"mimalloc", "2.0.9", none, time, kib, "largest small size"},
             {"mimalloc", "2.0.9", none, time, 128 * kib, "large pages"},
             {"mimalloc", "2.0.9", none, faults, 16 * mebibyte, "half a segment"},
             {"mimalloc", "1.7.9", none, faults, 2 * mebibyte, "half a segment"},
             {"tcmalloc", "gperftools 2.10", none, time, 256 * kib, "kMaxSize"},
             {"tcmalloc", "gperftools 2.10", none, faults, 64 * mebibyte, "returned to the system"},
         }) {
        INFO(known.allocator << ' ' << known.version << ", " << known.last_cheap << " B");
        CHECK(cause(known.allocator, known.version, known.settings, known.kind, known.last_cheap).find(known.word) !=
              std::string::npos);
        if (known.allocator != "tcmalloc" || known.kind == time) {
            const auto other = known.kind == time ? faults : time;
            CHECK(cause(known.allocator, known.version, known.settings, other, known.last_cheap).empty());
            CHECK(cause(known.allocator, known.version, known.settings, known.kind, 3 * known.last_cheap).empty());
        }
    }
}

TEST_CASE("a limit that settings or the version move or lift is no cause where it was", "[unit]")
{
    constexpr auto time = CliffKind::time;
    constexpr auto faults = CliffKind::faults;
    const model::Variables none;
    CHECK(cause("glibc", "2.36", none, time, 1031).empty());
    CHECK(cause("glibc", "2.36", none, time, 1033).empty());
    CHECK(cause("glibc", "2.36", none, time, 120).empty());  // the thread cache serves both sides
    CHECK(cause("glibc", "2.25", none, time, 1032).empty());
    CHECK(cause("glibc", "2.36", tunables("glibc.malloc.tcache_count=0"), time, 1032).empty());
    CHECK(cause("glibc", "2.36", tunables("glibc.malloc.tcache_max=512"), time, 1032).empty());
    CHECK(cause("glibc", "2.36", none, faults, 128 * kib - 24).empty());  // the threshold grows
    CHECK(cause("glibc", "2.36", tunables("glibc.malloc.mmap_threshold=1048576"), faults, 33'550'312).empty());
    CHECK(cause("jemalloc", "5.3.0", none, time, 14 * kib).empty());
    CHECK(cause("jemalloc", "5.3.0", conf("tcache_max:65536"), time, 32 * kib).empty());
    CHECK(cause("jemalloc", "5.3.0", conf("tcache:false"), time, 32 * kib).empty());
    CHECK(cause("jemalloc", "5.3.0", conf("oversize_threshold:0"), faults, 7 * mebibyte).empty());
    CHECK(cause("jemalloc", "5.3.0", conf("dirty_decay_ms:-1"), faults, 7 * mebibyte).empty());
    CHECK(cause("jemalloc", "5.1.0", none, faults, 7 * mebibyte).empty());
    CHECK(cause("mimalloc", "1.7.9", none, faults, 16 * mebibyte).empty());
    CHECK(cause("mimalloc", "3.0.1", none, time, 128 * kib).empty());
    CHECK(cause("tcmalloc", "gperftools 2.10", {{"TCMALLOC_RELEASE_RATE", "0"}}, faults, 64 * mebibyte).empty());
    CHECK(cause("/opt/lib/libmine.so", "", none, time, 1032).empty());
}

}  // namespace memsweep::measure
