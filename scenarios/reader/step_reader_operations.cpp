// What operations must satisfy beyond their option rows: sizes, names, and what the memory and the release mode allow.
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/model/concat_case.hpp"
#include "core/model/specs.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/step_reader.hpp"

namespace memsweep::scenarios {

std::vector<KeyProblem> settle_replay(model::ReplayStep& step, const TraceFacts& facts, const model::MemorySpec& memory,
                                      const model::ReleaseSpec& release, bool touch_asked)
{
    std::vector<KeyProblem> problems;
    step.trace = facts.path;
    step.content = facts.content;
    step.peak_live_bytes = facts.peak_live_bytes;
    step.bytes_allocated = facts.bytes_allocated;
    step.largest_block_bytes = facts.largest_block_bytes;
    if (step.touch == model::ReplayTouch::recorded) {
        step.touch = facts.touch;
    }
    const bool is_null = memory.resource == model::ResourceKind::null;
    if (is_null || model::is_beyond_reach(memory.resource)) {
        if (touch_asked && step.touch != model::ReplayTouch::none) {
            problems.push_back({"touch", model::touch_objection(memory.resource)});
        }
        if (is_null && release.mode != model::ReleaseMode::immediate && facts.copies) {
            problems.push_back({"trace", model::touch_objection(memory.resource)});
        }
        step.touch = model::ReplayTouch::none;
    }
    if (model::is_single_threaded(memory.resource) && (step.threads == 0 ? facts.threads : step.threads) > 1) {
        problems.push_back(
            {"threads", fmt::format("resource \"{}\" may be used by one thread only: \"threads\": 1 replays in one",
                                    model::name_of(memory.resource))});
    }
    if (step.threads > facts.threads) {
        problems.push_back({"threads", fmt::format("the trace has {} threads, which cannot be dealt out to {}",
                                                   facts.threads, step.threads)});
    }
    return problems;
}

void StepReader::check(const Fields& fields, model::AllocStep& step)
{
    read_extents(fields, step);
    check_alloc(fields, step);
    bind(step.as, {step.count, step.dtype, step.shape});
}

void StepReader::check(const Fields& fields, model::WriteStep& step)
{
    check_touchable(fields, step.touch != model::Touch::none, "touch");
    if (step.overrun_bytes != 0 && !release_.safety.guard_pages) {
        fields.complain(fields.place("overrun"),
                        "an overrun would destroy other arrays: it needs \"safety\": {\"guard_pages\": true}");
    }
}

void StepReader::check(const Fields& fields, model::ReadStep& /*step*/)
{
    check_touchable(fields, true, "op");
}

void StepReader::check(const Fields& fields, model::PrefetchStep& /*step*/)
{
    check_advisable(fields);
}

void StepReader::check(const Fields& fields, model::MigrateStep& /*step*/)
{
    check_advisable(fields);
}

void StepReader::check(const Fields& fields, model::ViewStep& step)
{
    check_touchable(fields, step.copy, "copy");
    const Arrays* of = use(fields, "of", step.of);
    Arrays made = of != nullptr ? *of : Arrays{};
    if (of != nullptr && !of->shape.empty()) {
        if (step.start >= step.stop || step.stop > of->shape.front()) {
            fields.complain(fields.place("stop"),
                            fmt::format("rows {} to {} are none of the {} that {} has", step.start, step.stop,
                                        of->shape.front(), in_quotes(step.of)));
        } else {
            made.shape.front() = step.stop - step.start;
        }
    }
    bind(step.as, std::move(made));
}

void StepReader::check(const Fields& fields, model::BinaryStep& step)
{
    check_touchable(fields, true, "op");
    const Arrays* left = use(fields, "left", step.left);
    const Arrays* right = use(fields, "right", step.right);
    if (left != nullptr && right != nullptr && *left != *right) {
        fields.complain(fields.place("right"), fmt::format("{} and {} differ in count, dtype or shape",
                                                           in_quotes(step.left), in_quotes(step.right)));
    }
    if (left != nullptr && left->dtype == model::DType::decimal128) {
        fields.complain(fields.place("left"),
                        "decimal arrays hold opaque bytes: they can be neither added nor multiplied");
    }
    bind(step.as, left != nullptr ? *left : Arrays{});
}

void StepReader::check(const Fields& fields, model::ConcatStep& step)
{
    check_touchable(fields, true, "op");
    const bool leaks = model::family_of(release_.mode) == model::ModeFamily::leak;
    if (step.what == nullptr) {
        step.what = &model::concat_cases().front();  // unreadable, reported
    }
    if (!fields.has("warmup")) {
        step.warmup = leaks ? model::concat_leaking_warmup_calls : model::concat_warmup_calls;
    }
    if (!fields.has("calls")) {
        step.calls = leaks ? model::concat_leaking_calls : step.what->repetitions;
    }
    if (scopes_ != 0) {
        fields.complain(fields.place("op"),
                        "\"concat\" keeps its inputs until the repetition ends: it cannot stand in a scope");
    }
    const bool within = timed_calls_ <= max_timed_calls;
    timed_calls_ = base::saturating_add(timed_calls_, base::saturating_mul(passes_, step.calls));
    if (within && timed_calls_ > max_timed_calls) {
        fields.complain(fields.place("calls"),
                        fmt::format("more than {} timed calls in one repetition", max_timed_calls));
    }
    if (fields.has("out") && step.what->out) {
        bind(step.out, {1, step.what->result, {step.what->result_bytes() / model::size_bytes(step.what->result)}});
    }
}

void StepReader::check(const Fields& fields, model::DropStep& step)
{
    if (!step.target.empty()) {
        flow_->drop(step.target, fields.place("target"));
    }
}

void StepReader::check(const Fields& fields, model::TrimStep& step)
{
    if (std::string why = model::trim_objection(step.how, memory_, release_.safety); !why.empty()) {
        fields.complain(fields.place("how"), std::move(why));
    }
}

void StepReader::check(const Fields& fields, model::StreamStep& step)
{
    check_advisable(fields);
    if (step.chunk_bytes % 4096 != 0) {
        fields.complain(fields.place("chunk"), "\"chunk\" must be a multiple of 4KiB: chunks are whole pages");
    }
    if (step.drop_behind && memory_.resource != model::ResourceKind::file) {
        fields.complain(fields.place("drop_behind"),
                        fmt::format("\"drop_behind\" needs memory resource \"file\", whose pages have a file to go "
                                    "to, not \"{}\"",
                                    model::name_of(memory_.resource)));
    }
}

void StepReader::check(const Fields& fields, model::SampleStep& /*step*/)
{
    const bool within = samples_ <= max_samples;
    samples_ = base::saturating_add(samples_, passes_);
    if (within && samples_ > max_samples) {
        fields.complain(fields.place("name"), fmt::format("more than {} samples in one repetition", max_samples));
    }
}

void StepReader::check(const Fields& fields, model::ReplayStep& step)
{
    if (step.trace.empty()) {
        return;
    }
    const Place& place = fields.place("trace");
    const auto facts = reading_.scope.surroundings.look_at_trace(beside(place, step.trace));
    if (!facts) {
        fields.complain(place, fmt::format("{}: {}", facts.error().where, facts.error().message));
        return;
    }
    for (auto& [key, why] : settle_replay(step, *facts, memory_, release_, fields.has("touch"))) {
        fields.complain(fields.place(key), std::move(why));
    }
}

template <typename Walk>
std::vector<model::Step> StepReader::read_nested(const Fields& fields, const Walk& walk)
{
    const SourceNode* nested = fields.raw("steps");
    if (nested == nullptr) {
        return {};
    }
    if (depth_ == max_repeat_depth) {
        fields.complain(nested->place, fmt::format("steps nested deeper than {} levels", max_repeat_depth));
        flow_->lose_track();
        return {};
    }
    ++depth_;
    auto steps = walk(*nested);
    --depth_;
    return steps;
}

void StepReader::check(const Fields& fields, model::RepeatStep& step)
{
    const std::uint64_t outer = passes_;
    const std::uint64_t passes = base::saturating_mul(passes_, step.times);
    step.steps = read_nested(fields, [&](const SourceNode& nested) {
        if (passes > max_loop_passes && outer <= max_loop_passes) {
            fields.complain(fields.place("times"),
                            fmt::format("more than {} passes, nested \"times\" multiplied", max_loop_passes));
        }
        passes_ = passes;
        flow_->enter_loop();
        auto steps = read(nested);
        flow_->leave_loop(step.times > 1);
        passes_ = outer;
        return steps;
    });
}

void StepReader::check(const Fields& fields, model::ScopeStep& step)
{
    step.steps = read_nested(fields, [&](const SourceNode& nested) {
        ++scopes_;
        flow_->enter_scope();
        auto steps = read(nested);
        flow_->leave_scope(nested.place);
        --scopes_;
        return steps;
    });
}

// The names of a block are its own: each thread has arrays of its own under them.
void StepReader::check(const Fields& fields, model::ParallelStep& step)
{
    if (std::string why = model::parallel_objection(memory_, release_); !why.empty()) {
        fields.complain(fields.place("op"), "\"parallel\" needs memory that several threads may use: " + why);
    }
    step.steps = read_nested(fields, [&](const SourceNode& nested) {
        NameFlow own{reading_.diagnostics};
        NameFlow* const outer = std::exchange(flow_, &own);
        ++parallel_;
        auto steps = read(nested);
        --parallel_;
        flow_ = outer;
        return steps;
    });
}

void StepReader::check(const Fields& fields, model::PassStep& /*step*/)
{
    if (parallel_ == 0) {
        fields.complain(fields.place("op"),
                        "\"pass\" hands arrays to another thread: it stands in a \"parallel\" block");
    }
}

void StepReader::check(const Fields& fields, model::ThrowStep& /*step*/)
{
    if (scopes_ == 0) {
        fields.complain(fields.place("op"), "\"throw\" leaves a scope: it stands among the steps of one");
    }
}

// Either dtype and shape, or bytes.
void StepReader::read_extents(const Fields& fields, model::AllocStep& step)
{
    if (!fields.has("bytes")) {
        if (!fields.has("shape")) {
            fields.complain(fields.place("shape"), "step \"alloc\" needs \"shape\" or \"bytes\"");
        }
        return;
    }
    for (const std::string_view key : {"dtype", "shape"}) {
        if (const SourceNode* node = fields.raw(key)) {
            fields.complain(node->place,
                            fmt::format("\"{}\" and \"bytes\" exclude each other: bytes makes a uint8 array", key));
        }
    }
    step.dtype = model::DType::uint8;
    step.shape = {1};
    fields.read("bytes", step.shape.front());
}

void StepReader::check_alloc(const Fields& fields, const model::AllocStep& step)
{
    const bool computed = step.fill == model::Fill::ones || step.fill == model::Fill::arange;
    if (computed && step.touch != model::Touch::full) {
        fields.complain(
            fields.place("fill"),
            fmt::format("fill \"{}\" writes every element: it needs \"touch\": \"full\"", model::name_of(step.fill)));
    }
    if (step.fill == model::Fill::zeros && step.touch == model::Touch::none) {
        complain_of(fields, "fill", model::zeros_objection(memory_, release_));
    } else {
        check_touchable(fields, step.fill != model::Fill::none, "fill");
    }
    check_touchable(fields, step.touch != model::Touch::none, "touch");
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const auto bytes = model::array_bytes(step);
    const auto total = bytes ? base::checked_mul(*bytes, step.count) : std::nullopt;
    if (!total || *total > largest) {
        fields.complain(fields.place(fields.has("bytes") ? "bytes" : "shape"),
                        fmt::format("{} such arrays need more than {} bytes", step.count, largest));
    }
}

void StepReader::check_touchable(const Fields& fields, bool touches, std::string_view key)
{
    if (touches) {
        complain_of(fields, key, model::touch_objection(memory_.resource));
    }
}

void StepReader::check_advisable(const Fields& fields)
{
    std::string why = model::advice_objection(memory_.resource);
    complain_of(fields, "op", why.empty() ? model::touch_objection(memory_.resource) : std::move(why));
}

void StepReader::complain_of(const Fields& fields, std::string_view key, std::string why)
{
    if (!why.empty()) {
        fields.complain(fields.place(key), std::move(why));
    }
}

void StepReader::bind(const std::string& name, Arrays arrays)
{
    if (name.empty()) {  // unreadable, reported
        flow_->lose_track();
        return;
    }
    flow_->bind(name, std::move(arrays));
}

}  // namespace memsweep::scenarios
