// The keys of steps: what all carry, and one table per operation, by the struct that it is read into.
#include <algorithm>
#include <array>
#include <ranges>
#include <string>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/concat_case.hpp"
#include "core/model/step.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::scenarios {
namespace {

template <typename Operation>
struct Of {};

// An operation without parameters has no keys.
template <typename Operation>
    requires(std::is_empty_v<Operation>)
OptionTable<Operation> keys_of(Of<Operation> /*operation*/)
{
    return {};
}

template <typename Operation>
Row<Operation> steps_key(std::string_view help)
{
    return rows::key<Operation>("steps", OptionKind::list, help).required();
}

template <typename Operation>
Row<Operation> target(std::string_view help)
{
    return rows::name<&Operation::target>("target", help).required();
}

// The same, of an operation that works on the arrays.
template <typename Operation>
Row<Operation> arrays(std::string_view help = "name of the arrays")
{
    return target<Operation>(help).of_arrays();
}

OptionTable<model::AllocStep> keys_of(Of<model::AllocStep> /*operation*/)
{
    using A = model::AllocStep;
    auto shape = rows::bounded<&A::shape>("shape", OptionKind::shape, 1, any_size, "extents, slowest-varying first");
    auto bytes = rows::key<A>("bytes", OptionKind::size, "size of a uint8 array, instead of dtype and shape");
    return {rows::name<&A::as>("as",
                               "name of the new arrays; if it is in use, they are made before the old ones are dropped")
                .required(),
            rows::integer<&A::count>("count", 1, thousand_million, "how many arrays"),
            rows::choice<&A::dtype>("dtype", "element type"),
            std::move(shape),
            std::move(bytes).within(1, any_size),
            rows::choice<&A::fill>("fill", "what the elements hold"),
            rows::choice<&A::touch>("touch", "what is written right after the allocation")};
}

OptionTable<model::AllocFreeStep> keys_of(Of<model::AllocFreeStep> /*operation*/)
{
    using A = model::AllocFreeStep;
    return {rows::size<&A::bytes>("bytes", 1, any_size, "size of the block").required(),
            rows::integer<&A::times>("times", 1, thousand_million, "how often it is allocated and freed")};
}

OptionTable<model::WriteStep> keys_of(Of<model::WriteStep> /*operation*/)
{
    using W = model::WriteStep;
    return {arrays<W>(), rows::choice<&W::touch>("touch", "what is written"),
            rows::size<&W::overrun_bytes>("overrun", 0, 4096,
                                          "bytes written past the end, too: a planted mistake that guard pages catch")
                .unless_default("overrun_bytes")};
}

OptionTable<model::ReadStep> keys_of(Of<model::ReadStep> /*operation*/)
{
    return {arrays<model::ReadStep>()};
}

OptionTable<model::BinaryStep> keys_of(Of<model::BinaryStep> /*operation*/)
{
    using B = model::BinaryStep;
    return {
        rows::choice<&B::function>("function", "what is computed per element").required(),
        rows::name<&B::as>("as", "name of the new arrays").required(),
        rows::name<&B::left>("left", "name of the first operands").required(),
        rows::name<&B::right>("right", "name of the second operands, of the same count, dtype and shape").required()};
}

OptionTable<model::ConcatStep> keys_of(Of<model::ConcatStep> /*operation*/)
{
    using C = model::ConcatStep;
    auto label = rows::bound<C>(
        "case", OptionKind::choice, "label of the case",
        [](const C& step) { return Value{std::string{step.what->label}}; },
        [](C& step, const Value& text) { step.what = model::find_concat_case(std::get<std::string>(text)); });
    return {std::move(label).one_of(model::concat_labels).required(),
            rows::integer<&C::warmup>("warmup", 0, 100'000,
                                      "untimed calls first; default: 20, as in the original, and 1 in mode leak")
                .without_default(),
            rows::integer<&C::calls>("calls", 1, 100'000,
                                     "timed calls; default: 30 to 500 by case, as in the original, and 3 in mode leak")
                .without_default(),
            rows::name<&C::out>("out", "name of the array that results are written to, for a case that has one")};
}

OptionTable<model::ViewStep> keys_of(Of<model::ViewStep> /*operation*/)
{
    using V = model::ViewStep;
    return {rows::name<&V::as>("as", "name of the views or copies").required(),
            rows::name<&V::of>("of", "name of the arrays that they view or copy").required(),
            rows::integer<&V::start>("start", 0, any_size, "first row, along the first dimension"),
            rows::integer<&V::stop>("stop", 1, any_size, "row after the last").required(),
            rows::flag<&V::copy>("copy", "make a copy instead of a view")};
}

OptionTable<model::FreeStep> keys_of(Of<model::FreeStep> /*operation*/)
{
    return {arrays<model::FreeStep>()};
}

OptionTable<model::ReleaseStep> keys_of(Of<model::ReleaseStep> /*operation*/)
{
    return {arrays<model::ReleaseStep>()};
}

OptionTable<model::DropStep> keys_of(Of<model::DropStep> /*operation*/)
{
    return {target<model::DropStep>("name whose arrays lose their reference")};
}

OptionTable<model::TrimStep> keys_of(Of<model::TrimStep> /*operation*/)
{
    using T = model::TrimStep;
    return {arrays<T>("name whose arrays lose their resident pages"),
            rows::choice<&T::how>("how", "by which mechanism")};
}

OptionTable<model::PrefetchStep> keys_of(Of<model::PrefetchStep> /*operation*/)
{
    using P = model::PrefetchStep;
    return {arrays<P>("name whose pages are brought in"), rows::choice<&P::how>("how", "by which advice")};
}

OptionTable<model::MigrateStep> keys_of(Of<model::MigrateStep> /*operation*/)
{
    using M = model::MigrateStep;
    return {arrays<M>("name whose resident pages are moved"),
            rows::integer<&M::node>("node", 0, 63, "the NUMA node they are moved to")};
}

OptionTable<model::StreamStep> keys_of(Of<model::StreamStep> /*operation*/)
{
    using S = model::StreamStep;
    return {
        arrays<S>(), rows::size<&S::chunk_bytes>("chunk", 4096, any_size, "bytes of a chunk; whole pages"),
        rows::integer<&S::ahead>("ahead", 0, 1024, "chunks requested ahead of use (MADV_WILLNEED)"),
        rows::flag<&S::drop_behind>(
            "drop_behind",
            "chunks leave memory after use (MADV_PAGEOUT; they are written to their file first); resource file only"),
        rows::flag<&S::write>("write", "write the chunks instead of reading them into the checksum")};
}

OptionTable<model::ShareStep> keys_of(Of<model::ShareStep> /*operation*/)
{
    using S = model::ShareStep;
    return {rows::size<&S::bytes>("bytes", 4096, any_size, "size of the shared memory"),
            rows::integer<&S::rounds>("rounds", 1, 1'000'000, "number of times that all of it is written and read")};
}

OptionTable<model::TransferStep> keys_of(Of<model::TransferStep> /*operation*/)
{
    using T = model::TransferStep;
    using Options = model::TransferOptions;
    return {
        rows::key<T>("transfers", OptionKind::list, "the transfers, which run at once; at most 64").required(),
        rows::choice<&T::options, &Options::strategy>("strategy", "how the transfers are carried out"),
        rows::listed_below<T>("/options"),
        rows::integer<&T::options, &Options::times>("times", 1, 1'000'000,
                                                    "number of turns; each carries out all transfers"),
        rows::integer<&T::options, &Options::pieces>("pieces", 1, 1'000'000,
                                                     "number of copies that each transfer is cut into"),
        rows::flag<&T::options, &Options::batch>(
            "batch", "pieces are gathered in pinned memory and moved by one copy; only from host memory to a device"),
        rows::flag<&T::options, &Options::sync_each>("sync_each",
                                                     "the program waits for each piece before it asks for the next"),
        rows::size<&T::options, &Options::chunk_bytes>(
            "chunk", 0, 1ULL << 32U,
            "staged: size of each slot of a ring, from 4KiB; 0: 64KiB for a transfer of 64KiB, and twice as much for "
            "every four times as many bytes, up to 4MiB"),
        rows::integer<&T::options, &Options::slots>("slots", 1, 64, "staged: number of slots in the ring"),
        rows::integer<&T::options, &Options::threads>(
            "threads", 0, 64,
            "staged: threads that copy at once, each its part of the bytes through its own ring; 0: one for every two "
            "processors near the device, at most 8")
            .unless_default(),
        rows::flag<&T::options, &Options::pipeline>(
            "pipeline", "staged: a slot is filled while others are on their way; false: one slot alone"),
        rows::flag<&T::options, &Options::adaptive>(
            "adaptive",
            "staged: chunks grow and shrink with the measured rate, from 64KiB to \"chunk\", or to 4MiB if that is 0"),
        rows::integer<&T::options, &Options::concurrency>("concurrency", 0, 64,
                                                          "most transfers under way at one time; 0: all"),
        rows::size<&T::options, &Options::offset_bytes>("offset", 0, 1ULL << 20U,
                                                        "bytes by which both ends start into their memory"),
        rows::integer<&T::options, &Options::retries>("retries", 0, 30,
                                                      "most retries of a transfer after an error of the driver"),
        rows::duration<&T::options, &Options::retry_delay>(
            "retry_delay", 0, 60'000 * millisecond,
            "delay before the first retry; it doubles with each retry, up to 1 s"),
        rows::size<&T::options, &Options::pinned_budget_bytes>(
            "pinned_budget", "most memory that may be pinned; more is refused; 0: a quarter of the available memory"),
        rows::flag<&T::options, &Options::fresh>("fresh",
                                                 "the memory of both ends is allocated and freed in every turn"),
        rows::integer<&T::options, &Options::chain>("chain", 0, 10'000,
                                                    "number of kernels that the device runs, one after the other, on "
                                                    "the data that arrived; the result is copied back"),
        rows::flag<&T::options, &Options::keep>("keep", "chain: data that the kernels share stay on the device; false: "
                                                        "they go to the device and back for each kernel"),
        rows::size<&T::options, &Options::work_bytes>("work", "bytes that the program itself reads in every turn"),
        rows::flag<&T::options, &Options::blocking>(
            "blocking",
            "the program does its own reads (`work`) after the transfers; false: while it would wait for them")};
}

OptionTable<model::SampleStep> keys_of(Of<model::SampleStep> /*operation*/)
{
    using S = model::SampleStep;
    return {rows::name<&S::name>("name", "name of the point").required(),
            rows::flag<&S::counters_only>(
                "counters_only",
                "record only the exact counters, not the resident set: cheap enough for every turn of a loop")
                .unless_default()};
}

OptionTable<model::IdleStep> keys_of(Of<model::IdleStep> /*operation*/)
{
    return {rows::duration<&model::IdleStep::duration>("duration", 0, hour, "how long nothing is done")
                .required()
                .always("duration_ns")};
}

OptionTable<model::RepeatStep> keys_of(Of<model::RepeatStep> /*operation*/)
{
    using R = model::RepeatStep;
    return {rows::integer<&R::times>("times", 1, thousand_million, "number of times").required(),
            steps_key<R>("what is repeated; at most 8 levels deep")};
}

OptionTable<model::ScopeStep> keys_of(Of<model::ScopeStep> /*operation*/)
{
    return {steps_key<model::ScopeStep>("what the block does")};
}

OptionTable<model::ParallelStep> keys_of(Of<model::ParallelStep> /*operation*/)
{
    using P = model::ParallelStep;
    static const std::string steps_help = [] {
        auto can = model::operations() | std::views::filter(&model::OperationInfo::is_for_threads) |
                   std::views::transform(&model::OperationInfo::name);
        return fmt::format("what each thread does: {}", fmt::join(can, ", "));
    }();
    return {
        rows::integer<&P::threads>("threads", 1, 64, "number of threads; they are pinned to the processors in turn"),
        steps_key<P>(steps_help)};
}

OptionTable<model::PassStep> keys_of(Of<model::PassStep> /*operation*/)
{
    return {arrays<model::PassStep>("name whose arrays go to the next thread of the ring")};
}

OptionTable<model::ThrowStep> keys_of(Of<model::ThrowStep> /*operation*/)
{
    return {rows::integer<&model::ThrowStep::every>("every", 1, thousand_million, "every Nth time it is reached")};
}

// The trace counts by what it holds, not by where it lies.
OptionTable<model::ReplayStep> keys_of(Of<model::ReplayStep> /*operation*/)
{
    using R = model::ReplayStep;
    return {rows::text<&R::trace>("trace", "the .mst file; relative to the scenario's folder")
                .required()
                .by([](const R& step) { return Value{step.content}; }),
            rows::integer<&R::threads>(
                "threads", 0, 1024,
                "number of threads that the recorded ones are divided among; 0: as many as were recorded"),
            rows::choice<&R::touch>("touch", "what is written into each block"),
            rows::choice<&R::speed>("speed", "how fast events follow"),
            rows::flag<&R::latency>("latency", "time every call of this step by itself, to report times by size; the "
                                               "step does not count in time_per_event"),
            rows::duration<&R::settle>("settle", 0, hour, "idle time after the last event, before the rest is freed")
                .unless_default()};
}

std::vector<std::string_view> operation_names()
{
    return names_of(model::operations(), &model::OperationInfo::name);
}

// Rows that do not say how they count always stand in the canonical form.
template <typename Operation>
std::span<const OptionInfo> options_of()
{
    static const OptionTable<Operation> table = keys_of(Of<Operation>{}).always();
    return table.options();
}

template <std::size_t... Index>  // NOLINT(readability-identifier-naming): a pack of values, named like the types
std::array<std::span<const OptionInfo>, sizeof...(Index)> all_operations(std::index_sequence<Index...> /*alternatives*/)
{
    return {options_of<std::variant_alternative_t<Index, model::Operation>>()...};
}

}  // namespace

const OptionTable<model::Step>& step_table()
{
    using S = model::Step;
    static const OptionTable<S> table{
        rows::key<S>("op", OptionKind::choice, "what the step does")
            .one_of(operation_names)
            .required()
            .always()
            .by([](const S& step) { return Value{std::string{model::operation_name(step.operation)}}; }),
        rows::name<&S::phase>("phase", "name by which reports group the step; default: the operation").always(),
        rows::flag<&S::timed>("timed",
                              "wall_time covers the steps marked so; if none is marked, it covers all but samples")
            .always(),
    };
    return table;
}

const OptionTable<model::TransferJob>& transfer_table()
{
    using J = model::TransferJob;
    static const OptionTable<J> table{
        rows::key<J>("src", OptionKind::text, "source, as in a transfer's text: host:pinned@node0").required(),
        rows::key<J>("exe", OptionKind::text, "executor: who moves the bytes, such as cpu or gpu0.ce").required(),
        rows::key<J>("dst", OptionKind::text, "destination, such as gpu0").required(),
        rows::size<&J::bytes>("bytes", 1, any_size, "number of bytes to move"),
        rows::integer<&J::priority>("priority", 0, 10, "transfers of higher priority begin first"),
    };
    return table;
}

std::span<const OptionInfo> operation_options(std::string_view op)
{
    static const auto all = all_operations(std::make_index_sequence<std::variant_size_v<model::Operation>>{});
    const auto known = model::operations();
    const auto found = std::ranges::find(known, op, &model::OperationInfo::name);
    return found == known.end() ? std::span<const OptionInfo>{} : all[static_cast<std::size_t>(found - known.begin())];
}

}  // namespace memsweep::scenarios
