// Planted mistakes, each found by its name and as often as it was made; the same programs without them report nothing.
#include <string>
#include <vector>

#include "tests/engine/steps.hpp"
#include "tests/support/trap_handlers.hpp"

using namespace memsweep;
using model::Detection;
using model::ReleaseMode;
using model::Step;
using tests::alloc;
using tests::collect;
using tests::drain;
using tests::drop;
using tests::free;
using tests::read;
using tests::release_stray;
using tests::repeat;
using tests::run_steps;
using tests::sample;
using tests::scope;
using tests::throw_every;
using tests::write;

namespace {

using Texts = std::vector<std::string>;

constexpr Detection every_level[] = {Detection::null, Detection::flag, Detection::quarantine, Detection::unmap};

model::ReleaseSpec explicitly(Detection detect = Detection::off)
{
    return {.mode = ReleaseMode::explicit_free, .safety = {.detect = detect}};
}

// What every detection level finds in a program under explicit frees.
void check_levels(const std::vector<Step>& steps, const Texts& expected)
{
    const tests::TrapHandlers handlers;
    for (const Detection level : every_level) {
        INFO("detection by " << model::name_of(level));
        const tests::Ran ran = run_steps(steps, explicitly(level));
        CHECK(ran.attempt.ending == engine::Ending::finished);
        CHECK(ran.defects() == expected);
    }
}

}  // namespace

TEST_CASE("a read after a free is found at every level, by the name that was read", "[machine][traps]")
{
    check_levels({alloc("b", 5000), alloc("a", 5000), free("a"), read("a"), read("b"), drop("a"), drop("b")},
                 {"use_after_free a 1"});
    check_levels({alloc("b", 5000), alloc("a", 5000), read("a"), free("a"), read("b"), drop("a"), drop("b")}, {});
}

TEST_CASE("a write after a free is found at every level", "[machine][traps]")
{
    check_levels({alloc("b", 5000), alloc("a", 5000), free("b"), write("a"), write("b"), drop("a"), drop("b")},
                 {"use_after_free b 1"});
    check_levels({alloc("b", 5000), alloc("a", 5000), write("b"), free("b"), write("a"), drop("a"), drop("b")}, {});
}

TEST_CASE("uses after free are counted per array and use", "[machine][traps]")
{
    check_levels({alloc("a", 100, model::Touch::full, 3), free("a"), read("a"), repeat(4, {read("a")}), drop("a")},
                 {"use_after_free a 15"});
}

TEST_CASE("without detection nothing is looked for and nothing is reported", "[unit]")
{
    const tests::Ran ran = run_steps({alloc("a", 100, model::Touch::none), free("a"), drop("a")}, explicitly());
    CHECK(ran.defects().empty());
    CHECK(model::find_metric(ran.report, "use_after_free") == nullptr);
    CHECK(run_steps({alloc("a", 100), free("a"), drop("a")}, explicitly(Detection::flag)).metric("use_after_free") ==
          0);
}

TEST_CASE("a use in an element-wise operation is found by the levels that look before it", "[unit]")
{
    const Step add{.operation = model::BinaryStep{model::BinaryFunction::add, "c", "a", "b"}};
    for (const Detection level : {Detection::null, Detection::flag}) {
        const tests::Ran ran =
            run_steps({alloc("a", 100), alloc("b", 100), free("b"), add, sample("p"), drop("a"), drop("b"), drop("c")},
                      explicitly(level));
        CHECK(ran.defects() == Texts{"use_after_free b 1"});
        CHECK(ran.live_bytes() == std::vector<std::uint64_t>{100});  // no result was made
    }
}

TEST_CASE("a second free by hand is found where it is one too many", "[unit]")
{
    const std::vector<Step> twice{alloc("a", 100, model::Touch::full, 2), free("a"), free("a"), free("a"), drop("a")};
    const std::vector<Step> once{alloc("a", 100, model::Touch::full, 2), free("a"), drop("a")};
    for (const Detection level : {Detection::off, Detection::null, Detection::flag, Detection::quarantine}) {
        CHECK(run_steps(twice, explicitly(level)).defects() == Texts{"double_free a 4"});
        CHECK(run_steps(once, explicitly(level)).defects().empty());
    }
    CHECK(run_steps(twice, {.mode = ReleaseMode::must_free}).defects() == Texts{"double_free a 4"});
    CHECK(run_steps(twice, {.mode = ReleaseMode::unsafe_free}).defects().empty());
    CHECK(run_steps(twice, {.fallback = model::Fallback::finalizer}).defects().empty());
    CHECK(run_steps(twice, {}).defects().empty());  // references know no manual free
    CHECK(run_steps(twice, explicitly()).metric("double_frees") == 4);
}

TEST_CASE("a drop after a free is no second one", "[unit]")
{
    for (const ReleaseMode mode : {ReleaseMode::explicit_free, ReleaseMode::must_free, ReleaseMode::unsafe_free}) {
        const tests::Ran ran =
            run_steps({repeat(5, {alloc("a", 100), free("a"), drop("a")}), sample("p")}, {.mode = mode});
        CHECK(ran.defects().empty());
        CHECK(ran.live_bytes() == std::vector<std::uint64_t>{0});
        CHECK(ran.metric("freed_early") == 5);
    }
}

TEST_CASE("a reference released that nobody held is found by its name", "[unit]")
{
    for (const model::ReleaseSpec& release :
         {model::ReleaseSpec{}, model::ReleaseSpec{.mode = ReleaseMode::finalizer},
          model::ReleaseSpec{.mode = ReleaseMode::sweep}, model::ReleaseSpec{.atomic = false}}) {
        const tests::Ran ran = run_steps({alloc("b", 100), alloc("a", 100, model::Touch::full, 2), release_stray("a"),
                                          drop("a"), read("b"), drop("b"), collect, drain, sample("p")},
                                         release);
        CHECK(ran.defects() == Texts{"stray_release a 2"});
        CHECK(ran.metric("stray_releases") == 2);  // the drops found no reference left
        CHECK(ran.live_bytes() == std::vector<std::uint64_t>{0});
    }
    CHECK(run_steps({alloc("a", 100), drop("a")}).metric("stray_releases") == 0);
}

TEST_CASE("a stray release makes the next read a use after free", "[unit]")
{
    const tests::Ran ran =
        run_steps({alloc("a", 100), release_stray("a"), read("a"), drop("a")}, {.safety = {.detect = Detection::flag}});
    CHECK(ran.defects() == Texts{"use_after_free a 1", "stray_release a 1"});
}

TEST_CASE("an overrun is caught by a guard page, from the first byte on", "[machine][traps]")
{
    const tests::TrapHandlers handlers;
    for (const Detection level : {Detection::off, Detection::unmap}) {
        const model::ReleaseSpec guarded{.safety = {.detect = level, .guard_pages = true}};
        for (const std::uint64_t bytes : {64U, 4096U, 64'000U}) {
            for (const std::uint64_t beyond : {1U, 8U, 4096U}) {
                INFO(bytes << " bytes, " << beyond << " beyond");
                const tests::Ran ran = run_steps({alloc("b", bytes), alloc("a", bytes, model::Touch::full, 2),
                                                  write("b"), write("a", beyond), read("a"), drop("a"), drop("b")},
                                                 guarded);
                CHECK(ran.defects() == Texts{"overrun a 2"});
            }
        }
        CHECK(run_steps({alloc("a", 4096), write("a"), read("a"), drop("a")}, guarded).defects().empty());
    }
}

TEST_CASE("under explicit frees a name that is bound again leaks what it held", "[unit]")
{
    const tests::Ran ran = run_steps({repeat(20, {alloc("a", 1000)}), drop("a"), sample("p")}, explicitly());
    CHECK(ran.defects() == Texts{"leak a 19"});
    REQUIRE(ran.report.defects.size() == 1);
    CHECK(ran.report.defects[0].bytes == 19'000);
    CHECK(ran.report.defects[0].oldest_seconds > 0);
    CHECK(ran.metric("outstanding") == 19);
    CHECK(ran.live_bytes() == std::vector<std::uint64_t>{19'000});
    CHECK(run_steps({repeat(20, {alloc("a", 1000), drop("a")})}, explicitly()).defects().empty());
}

TEST_CASE("a binding that leaks nobody's memory is no leak", "[unit]")
{
    const std::vector<Step> rebinds{repeat(20, {alloc("a", 1000)}), drop("a")};
    for (const model::ReleaseSpec& release :
         {model::ReleaseSpec{}, model::ReleaseSpec{.mode = ReleaseMode::finalizer},
          model::ReleaseSpec{.mode = ReleaseMode::unsafe_free, .fallback = model::Fallback::sweep},
          model::ReleaseSpec{.mode = ReleaseMode::pool}, model::ReleaseSpec{.mode = ReleaseMode::leak}}) {
        INFO(model::name_of(release.mode));
        CHECK(run_steps(rebinds, release).defects().empty());
    }
}

TEST_CASE("what is still held at the end is no leak", "[unit]")
{
    CHECK(run_steps({alloc("a", 1000)}, explicitly()).defects().empty());
    CHECK(run_steps({alloc("a", 1000)}, explicitly()).metric("outstanding") == 1);
}

TEST_CASE("an exception that skips the manual free is a leak under explicit frees, by name", "[unit]")
{
    const std::vector<Step> steps{
        repeat(20, {scope({alloc("a", 1000), alloc("b", 10), drop("b"), throw_every(5), drop("a")})})};
    CHECK(run_steps(steps, explicitly()).defects() == Texts{"leak a 4"});
    CHECK(run_steps(steps, {}).defects().empty());
    CHECK(
        run_steps(steps, {.mode = ReleaseMode::unsafe_free, .fallback = model::Fallback::finalizer}).defects().empty());
}

TEST_CASE("an exception in an arena without restore leaks until an outer scope ends", "[unit]")
{
    const std::vector<Step> turns{repeat(20, {scope({alloc("a", 1000), throw_every(5), drop("a")})}), sample("p")};
    for (const ReleaseMode mode : {ReleaseMode::arena, ReleaseMode::arena_checked}) {
        const tests::Ran alone = run_steps(turns, {.mode = mode, .arena = {.slab_bytes = 4096}});
        CHECK(alone.defects() == Texts{"leak a 4"});
        CHECK(run_steps(turns, {.mode = mode, .arena = {.slab_bytes = 4096, .restore_on_throw = true}})
                  .defects()
                  .empty());
        const tests::Ran inside = run_steps({scope(turns)}, {.mode = mode, .arena = {.slab_bytes = 4096}});
        CHECK(inside.defects().empty());
        CHECK(inside.metric("outstanding") == 0);
    }
}

TEST_CASE("a checked arena finds what outlives its scope when it is used", "[unit]")
{
    // The name is the outer block's, the arrays are made in the inner one.
    const std::vector<Step> escapes{alloc("a", 100), scope({alloc("b", 100), alloc("a", 100), drop("b")}), read("a"),
                                    drop("a")};
    const tests::Ran checked = run_steps(escapes, {.mode = ReleaseMode::arena_checked});
    CHECK(checked.defects() == Texts{"use_after_free a 1"});
    CHECK(checked.metric("arena_escapes") == 1);
    const tests::Ran unchecked = run_steps(escapes, {.mode = ReleaseMode::arena});
    CHECK(unchecked.metric("arena_escapes") == 1);
    CHECK(unchecked.defects().empty());
    const tests::Ran stays =
        run_steps({alloc("a", 100), scope({alloc("b", 100), read("a"), drop("b")}), read("a"), drop("a")},
                  {.mode = ReleaseMode::arena_checked});
    CHECK(stays.defects().empty());
    CHECK(stays.metric("arena_escapes") == 0);
}

TEST_CASE("several mistakes of several names are told apart", "[machine][traps]")
{
    check_levels({alloc("a", 100), alloc("b", 100), alloc("c", 100), free("a"), read("a"), free("b"), free("b"),
                  alloc("c", 100), drop("a"), drop("b"), drop("c")},
                 {"use_after_free a 1", "double_free b 1", "leak c 1"});
}

TEST_CASE("frees disregarded, a program without mistakes reads the same; one with a mistake does not", "[unit]")
{
    const model::AllocStep numbers{
        .as = "a", .count = 3, .dtype = model::DType::float64, .shape = {50}, .fill = model::Fill::arange};
    const Step make{.operation = numbers};
    const std::vector<Step> right{repeat(10, {make, read("a"), free("a"), drop("a")})};
    const std::vector<Step> wrong{repeat(10, {make, free("a"), read("a"), drop("a")})};
    const auto sum = [](const std::vector<Step>& steps, ReleaseMode mode, model::SafetySpec safety) {
        return run_steps(steps, {.mode = mode, .safety = safety}).metric("checksum");
    };
    const model::SafetySpec disregarded{.ignore_manual_free = true};
    const double expected = run_steps(right).metric("checksum");
    CHECK(expected != 0);
    for (const ReleaseMode mode :
         {ReleaseMode::explicit_free, ReleaseMode::must_free, ReleaseMode::unsafe_free, ReleaseMode::finalize_now}) {
        INFO(model::name_of(mode));
        CHECK(sum(right, mode, {}) == expected);
        CHECK(sum(right, mode, disregarded) == expected);
        CHECK(sum(wrong, mode, disregarded) == expected);
        // Poisoned, so that what is read after the free is known to differ.
        CHECK(sum(wrong, mode, {.detect = Detection::quarantine}) != expected);
    }
    const tests::Ran ignored = run_steps(
        wrong, {.mode = ReleaseMode::explicit_free, .safety = {.detect = Detection::flag, .ignore_manual_free = true}});
    CHECK(ignored.defects().empty());
    CHECK(ignored.metric("freed_early") == 0);
}

TEST_CASE("every mode reads what was written, whatever it does with memory", "[unit]")
{
    const Step make{
        .operation = model::AllocStep{
            .as = "a", .count = 3, .dtype = model::DType::float64, .shape = {50}, .fill = model::Fill::arange}};
    const Step zeros{
        .operation = model::AllocStep{
            .as = "z", .count = 2, .dtype = model::DType::float64, .shape = {50}, .fill = model::Fill::zeros}};
    const std::vector<Step> steps{scope({repeat(20, {make, read("a"), zeros, read("z"), drop("a"), drop("z")})})};
    const double expected = run_steps(steps).metric("checksum");
    for (const auto& mode : model::names<ReleaseMode>()) {
        INFO(mode.name);
        const tests::Ran ran = run_steps(steps, {.mode = mode.value, .collect_every = 7, .batch = 5});
        CHECK(ran.metric("checksum") == expected);
        CHECK(ran.attempt.steps().record.array_counts.reads == 100);
        CHECK(ran.defects().empty());
    }
}
