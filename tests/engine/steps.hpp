// Steps as a program would write them, and a run of some of them in this process, with invented times.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/engine/case_metrics.hpp"
#include "core/engine/compile.hpp"
#include "core/engine/steps/worker.hpp"
#include "core/model/concat_case.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_environment.hpp"

namespace memsweep::tests {

inline model::Step alloc(std::string as, std::uint64_t bytes, model::Touch touch = model::Touch::full,
                         std::uint64_t count = 1)
{
    model::AllocStep step;
    step.as = std::move(as);
    step.count = count;
    step.dtype = model::DType::uint8;
    step.shape = {bytes};
    step.touch = touch;
    return {.operation = step};
}

inline model::Step alloc_free(std::uint64_t bytes, std::uint64_t times)
{
    return {.operation = model::AllocFreeStep{bytes, times}};
}

inline model::Step write(std::string target, std::uint64_t overrun_bytes = 0)
{
    return {.operation = model::WriteStep{std::move(target), model::Touch::full, overrun_bytes}};
}

inline model::Step read(std::string target)
{
    return {.operation = model::ReadStep{std::move(target)}};
}

inline model::Step free(std::string target)
{
    return {.operation = model::FreeStep{std::move(target)}};
}

inline model::Step release_stray(std::string target)
{
    return {.operation = model::ReleaseStep{std::move(target)}};
}

inline model::Step drop(std::string target)
{
    return {.operation = model::DropStep{std::move(target)}};
}

inline model::Step sample(std::string name)
{
    return {.operation = model::SampleStep{std::move(name)}};
}

inline model::Step repeat(std::uint64_t times, std::vector<model::Step> steps)
{
    return {.operation = model::RepeatStep{times, std::move(steps)}};
}

inline model::Step scope(std::vector<model::Step> steps)
{
    return {.operation = model::ScopeStep{std::move(steps)}};
}

inline model::Step throw_every(std::uint64_t every)
{
    return {.operation = model::ThrowStep{every}};
}

inline model::Step concat(std::string_view label, std::uint64_t warmup, std::uint64_t calls, std::string out = {})
{
    return {.operation = model::ConcatStep{model::find_concat_case(label), warmup, calls, std::move(out)}};
}

inline const model::Step collect{.operation = model::CollectStep{}};
inline const model::Step drain{.operation = model::DrainStep{}};

inline engine::CompiledCase program_of(std::vector<model::Step> steps, const model::ReleaseSpec& release = {},
                                       const model::MemorySpec& memory = {})
{
    model::Case one;
    one.id = "test";
    one.work = std::move(steps);
    one.release = release;
    one.memory = memory;
    auto program = engine::compile(one);
    REQUIRE(program);
    return *std::move(program);
}

struct Ran {
    engine::Attempt attempt;
    model::CaseReport report;

    // "use_after_free a 2", in the order of the names.
    [[nodiscard]] std::vector<std::string> defects() const
    {
        std::vector<std::string> texts;
        for (const model::Defect& defect : report.defects) {
            texts.push_back(std::string{model::name_of(defect.kind)} + " " + defect.target + " " +
                            std::to_string(defect.count));
        }
        return texts;
    }

    [[nodiscard]] double metric(std::string_view name) const
    {
        const model::Metric* const found = model::find_metric(report, name);
        REQUIRE(found != nullptr);
        REQUIRE(found->values.size() == 1);
        REQUIRE(found->values.front());
        return *found->values.front();
    }

    [[nodiscard]] std::vector<std::uint64_t> live_bytes() const
    {
        std::vector<std::uint64_t> live;
        for (const engine::PointRecord& point : attempt.steps().points) {
            live.push_back(point.live_bytes);
        }
        return live;
    }
};

inline Ran run_steps(std::vector<model::Step> steps, const model::ReleaseSpec& release = {},
                     const model::MemorySpec& memory = {})
{
    const engine::CompiledCase program = program_of(std::move(steps), release, memory);
    const FakeClock clock;
    FakeProbe probe;
    engine::InProcessExecutor executor{{clock, probe}};
    Ran ran;
    engine::declare_metrics(program, ran.report);
    ran.attempt = executor.run(program, {}, [](int /*pid*/) {});
    engine::append_repetition(program, ran.attempt, {4096, 2 << 20}, ran.report);
    return ran;
}

}  // namespace memsweep::tests
