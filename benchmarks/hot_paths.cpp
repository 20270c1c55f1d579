#include "benchmarks/hot_paths.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include <gnu/libc-version.h>

#include "core/base/barrier.hpp"
#include "core/engine/compile.hpp"
#include "core/engine/steps/worker.hpp"

namespace memsweep::benchmarks {
namespace {

// As much of a State as the loops need.
class Turns {
  public:
    explicit Turns(std::uint64_t count) : count_{count} {}

    struct Turn {
        ~Turn() {}  // NOLINT(modernize-use-equals-default): not trivial, so that an unused one is no warning
    };
    struct Iterator {
        std::uint64_t left{};
        Turn operator*() const { return {}; }
        Iterator& operator++()
        {
            --left;
            return *this;
        }
        bool operator!=(const Iterator& other) const { return left != other.left; }
    };
    [[nodiscard]] Iterator begin() const { return {count_}; }
    [[nodiscard]] Iterator end() const { return {}; }
    [[nodiscard]] std::uint64_t count() const { return count_; }

  private:
    std::uint64_t count_;
};

// A scenario that makes and drops an array of 64 bytes, as a worker runs it.
void engine_alloc_drop(Turns& turns, model::Accounting accounting)
{
    model::AllocStep alloc;
    alloc.as = "a";
    alloc.dtype = model::DType::uint8;
    alloc.shape = {64};
    model::Case one;
    one.memory.accounting = accounting;
    one.work = model::Steps{
        {.operation = model::RepeatStep{turns.count(), {{.operation = alloc}, {.operation = model::DropStep{"a"}}}}}};
    const auto program = engine::compile(one);
    const sys::SystemClock clock;
    auto probe = sys::OwnProcessProbe::open();
    if (!program || !probe) {
        std::abort();
    }
    engine::InProcessExecutor executor{{clock, *probe}};
    benchmark::DoNotOptimize(executor.run(*program, {}, [](int /*pid*/) {}));
}

void malloc_free(Turns& turns)
{
    for ([[maybe_unused]] auto _ : turns) {
        std::free(base::hide(std::malloc(64)));
    }
}

struct HotPath {
    std::string_view name;
    void (*run)(Turns& turns);
};

constexpr std::array<HotPath, 8> paths{{
    {"pool_hit/tls", pool_hit<Turns>},
    {"pool_hit/floor", pool_hit_floor<Turns>},
    {"array_create_free/pooled", [](Turns& turns) { make_and_drop_buffer(turns, model::ReleaseMode::tls_cache); }},
    {"array_create_free/floor", make_and_drop_floor<Turns>},
    {"array_create_free/promised", make_and_drop_promised<Turns>},
    {"engine_alloc_drop/exact", [](Turns& turns) { engine_alloc_drop(turns, model::Accounting::exact); }},
    {"engine_alloc_drop/uncounted", [](Turns& turns) { engine_alloc_drop(turns, model::Accounting::off); }},
    {"engine_alloc_drop/malloc_free", malloc_free},
}};

constexpr bool is_optimised =
#ifdef __OPTIMIZE__
    true;
#else
    false;
#endif

}  // namespace

bool ran_hot_path(int argc, char** argv)
{
    if (argc != 4 || argv[1] != std::string_view{"--hot-path"}) {
        return false;
    }
    if (argv[2] == std::string_view{"compiler"}) {
        std::printf("%s %s, %s, glibc %s\n",
#ifdef __clang__
                    "clang",
#else
                    "g++",
#endif
                    __VERSION__, is_optimised ? "optimised" : "not optimised", gnu_get_libc_version());
        return true;
    }
    const auto* const path = std::ranges::find(paths, std::string_view{argv[2]}, &HotPath::name);
    if (path == paths.end()) {
        std::fprintf(stderr, "no hot path %s\n", argv[2]);
        std::exit(2);  // NOLINT(concurrency-mt-unsafe): there is one thread
    }
    Turns turns{std::strtoull(argv[3], nullptr, 10)};
    path->run(turns);
    return true;
}

}  // namespace memsweep::benchmarks
