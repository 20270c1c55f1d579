// One step of a scenario, with every axis value and variable already substituted.
//
// A Step's operation is a closed variant. The struct of an operation is all that the model has of it: its name and
// meaning, its parameters, and `holds_nothing` if it neither makes nor drops memory.
//
// An operation on the arrays of a name is a template over how it refers to that name. In a scenario that is the name's
// text, in a compiled program (core/engine/repetition/step_program.hpp) the index of its slot; with() turns one into
// the other. An operation without names travels to the worker unchanged, so its members are trivially copyable.
// Units    bytes, elements and counts as named; shapes in elements, slowest-varying dimension first.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/model/elements.hpp"
#include "core/model/paging.hpp"
#include "core/model/settings.hpp"
#include "core/model/transfer.hpp"

namespace memsweep::model {

// The description of an operation in its struct. Beside it the struct has each of these constants that is true:
//   holds_nothing    it neither makes nor drops memory
//   keeps_no_array   the blocks that it makes are gone when it ends, but each counts as an operation of time_per_op
//   is_for_threads   each thread of a parallel block can do it by itself: it takes no time or point of its own, and
//                    nothing that belongs to the whole process
struct OperationInfo {
    std::string_view name;
    std::string_view meaning;
    bool is_for_threads{};
};

// Allocates `count` arrays under one name. A name in use is rebound as in Python: the new arrays are
// made first, then the old ones dropped.
struct AllocStep {
    static constexpr OperationInfo info{"alloc",
                                        "allocate arrays under a name; a name in use is rebound, new arrays first"};
    static constexpr bool is_for_threads = true;
    std::string as;
    std::uint64_t count{1};
    DType dtype{DType::float64};
    std::vector<std::uint64_t> shape;
    Fill fill{Fill::none};
    Touch touch{Touch::none};
};

// Allocates and frees one block of the memory resource, `times` over: no array, no release mode, nothing written.
struct AllocFreeStep {
    static constexpr OperationInfo info{"alloc_free",
                                        "allocate a block and free it at once, so many times, with nothing between the "
                                        "two calls: no array, no release mode"};
    static constexpr bool keeps_no_array = true;
    static constexpr bool is_for_threads = true;
    std::uint64_t bytes{};
    std::uint64_t times{1};
};

template <typename Name>
struct Write {
    static constexpr OperationInfo info{"write", "write to the arrays of a name"};
    static constexpr bool holds_nothing = true;
    static constexpr bool is_for_threads = true;
    Name target{};
    Touch touch{Touch::full};
    std::uint64_t overrun_bytes{};  // written past the end as well: a planted defect, for guard pages to catch

    [[nodiscard]] auto with(const auto& slot) const
    {
        return Write<decltype(slot(target))>{slot(target), touch, overrun_bytes};
    }
};
using WriteStep = Write<std::string>;

// Every byte is read and goes into the repetition's checksum.
template <typename Name>
struct Read {
    static constexpr OperationInfo info{"read", "read every byte of the arrays of a name, into the checksum"};
    static constexpr bool holds_nothing = true;
    static constexpr bool is_for_threads = true;
    Name target{};

    [[nodiscard]] auto with(const auto& slot) const { return Read<decltype(slot(target))>{slot(target)}; }
};
using ReadStep = Read<std::string>;

// as = left (function) right, element by element, into a new array each (NumPy's ufunc into a fresh result).
template <typename Name>
struct Binary {
    static constexpr OperationInfo info{"binary", "add or multiply two arrays into a new one"};
    BinaryFunction function{};
    Name as{};
    Name left{};
    Name right{};

    // The operands' slots come before the result's.
    [[nodiscard]] auto with(const auto& slot) const
    {
        const auto first = slot(left);
        const auto second = slot(right);
        return Binary<decltype(slot(as))>{function, slot(as), first, second};
    }
};
using BinaryStep = Binary<std::string>;

struct ConcatCase;

// Calls one case of the concatenation sweep, each call timed by itself. Its inputs are made before the first call and
// live until the repetition ends. Every result is dropped at once, and never freed by hand.
struct ConcatStep {
    static constexpr OperationInfo info{
        "concat", "call a case of the concatenation sweep, each call timed by itself, and check its result"};
    const ConcatCase* what{};
    std::uint64_t warmup{};  // calls before those that are timed
    std::uint64_t calls{};   // timed
    std::string out;         // name of the array that results are written to, if the case has one
};

// as = each array of `of`, rows `start` to `stop` of it: a view that shares its buffer, or a copy of its own.
template <typename Name>
struct View {
    static constexpr OperationInfo info{
        "view", "take rows of the arrays of a name under another: a view that shares their memory, or a copy"};
    Name as{};
    Name of{};
    std::uint64_t start{};
    std::uint64_t stop{};
    bool copy{};

    // The slot of the source comes before the view's.
    [[nodiscard]] auto with(const auto& slot) const
    {
        const auto looked_at = slot(of);
        return View<decltype(slot(as))>{slot(as), looked_at, start, stop, copy};
    }
};
using ViewStep = View<std::string>;

template <typename Name>
struct Drop {
    static constexpr OperationInfo info{"drop", "drop the references to the arrays of a name"};
    static constexpr bool is_for_threads = true;
    Name target{};

    [[nodiscard]] auto with(const auto& slot) const { return Drop<decltype(slot(target))>{slot(target)}; }
};
using DropStep = Drop<std::string>;

// The program frees the arrays itself; the names keep their handles. A mode without manual frees disregards it.
template <typename Name>
struct Free {
    static constexpr OperationInfo info{"free", "free the arrays of a name by hand; the name keeps its references"};
    static constexpr bool holds_nothing = true;  // freed arrays count until they are dropped
    Name target{};

    [[nodiscard]] auto with(const auto& slot) const { return Free<decltype(slot(target))>{slot(target)}; }
};
using FreeStep = Free<std::string>;

// Drops a reference that the program does not hold: a planted defect.
template <typename Name>
struct Release {
    static constexpr OperationInfo info{"release",
                                        "drop a reference that the program does not hold: a planted mistake"};
    static constexpr bool holds_nothing = true;
    Name target{};

    [[nodiscard]] auto with(const auto& slot) const { return Release<decltype(slot(target))>{slot(target)}; }
};
using ReleaseStep = Release<std::string>;

// Runs a collection. With a finalizer it only queues unreachable arrays.
struct CollectStep {
    static constexpr OperationInfo info{"collect",
                                        "run a collection: unreachable arrays are found and queued for release"};
};

struct DrainStep {
    static constexpr OperationInfo info{"drain", "wait until everything found has been released"};
};

// The name keeps its arrays.
template <typename Name>
struct Trim {
    static constexpr OperationInfo info{
        "trim",
        "take the resident pages of the arrays of a name away, by one of the mechanisms below; contents may be lost"};
    static constexpr bool holds_nothing = true;
    Name target{};
    TrimHow how{TrimHow::soft};

    [[nodiscard]] auto with(const auto& slot) const { return Trim<decltype(slot(target))>{slot(target), how}; }
};
using TrimStep = Trim<std::string>;

template <typename Name>
struct Prefetch {
    static constexpr OperationInfo info{
        "prefetch", "bring the pages of the arrays of a name in before they are used; contents kept"};
    static constexpr bool holds_nothing = true;
    static constexpr bool is_for_threads = true;
    Name target{};
    PrefetchHow how{PrefetchHow::populate_write};

    [[nodiscard]] auto with(const auto& slot) const { return Prefetch<decltype(slot(target))>{slot(target), how}; }
};
using PrefetchStep = Prefetch<std::string>;

template <typename Name>
struct Migrate {
    static constexpr OperationInfo info{"migrate",
                                        "move the resident pages of the arrays of a name to a NUMA node (move_pages)"};
    static constexpr bool holds_nothing = true;
    Name target{};
    std::uint32_t node{};

    [[nodiscard]] auto with(const auto& slot) const { return Migrate<decltype(slot(target))>{slot(target), node}; }
};
using MigrateStep = Migrate<std::string>;

// Goes once through the arrays of a name, chunk by chunk, with the next chunks on their way.
template <typename Name>
struct Stream {
    static constexpr OperationInfo info{
        "stream", "go once through the arrays of a name in chunks, the next ones on their way, the last ones dropped"};
    Name target{};
    std::uint64_t chunk_bytes{8U << 20U};
    std::uint64_t ahead{1};  // chunks asked for before they are needed
    bool drop_behind{};      // used chunks leave the resident set
    bool write{};            // instead of reading into the checksum

    [[nodiscard]] auto with(const auto& slot) const
    {
        return Stream<decltype(slot(target))>{slot(target), chunk_bytes, ahead, drop_behind, write};
    }
};
using StreamStep = Stream<std::string>;

// Named shared memory between this process and another: one writes, the other reads and checks.
struct ShareStep {
    static constexpr OperationInfo info{
        "share", "named shared memory with a second process: what one writes the other reads and checks"};
    std::uint64_t bytes{16U << 20U};
    std::uint64_t rounds{16};
};

// Several transfers at once, turn after turn.
struct TransferStep {
    static constexpr OperationInfo info{
        "transfer", "move bytes between places, several at once, by a way chosen or asked for; every byte is checked"};
    std::vector<TransferJob> jobs;  // at once
    TransferOptions options;
};

struct SampleStep {
    static constexpr OperationInfo info{"sample", "take a named point: live bytes, working set, faults, queue depth"};
    static constexpr bool holds_nothing = true;
    std::string name;
    bool counters_only{};  // nothing is read from /proc: cheap enough for every turn of a loop
};

// Allocates and frees as a recorded program did. Within a thread it keeps the order of events, and between threads the
// order in which blocks went from one to another. Otherwise the recorded order is cut into steps of little memory (a
// 64th of the peak, at least 64 KiB), and threads run freely within a step. Under release mode immediate the calls go
// straight to the memory; any other mode gives every block a handle, whose drop is the recorded free.
struct ReplayStep {
    static constexpr OperationInfo info{
        "replay", "allocate and free as a recorded program did, thread by thread, and free at its end what it left"};
    std::string trace;        // path of the file
    std::string content;      // checksum of its bytes
    std::uint32_t threads{};  // recorded threads are dealt out to so many; 0: to one each
    ReplayTouch touch{ReplayTouch::recorded};
    ReplaySpeed speed{ReplaySpeed::maximum};
    bool latency{};                     // every call is timed by itself; such a replay is no part of time_per_event
    std::chrono::nanoseconds settle{};  // idle time after the last event, with the blocks then live
    std::vector<bool> left_out;  // by call stack of the trace: whether the blocks born there are; set by no scenario
    std::string until;           // the moment that the replay ends at (trace::TraceMoment); likewise
    std::uint64_t peak_live_bytes{};  // the recording's
    std::uint64_t bytes_allocated{};
    std::uint64_t largest_block_bytes{};
};

struct PurgeStep {
    static constexpr OperationInfo info{
        "purge", "ask the allocator and the pool to give back to the system what they hold idle"};
};

struct IdleStep {
    static constexpr OperationInfo info{"idle", "do nothing for a while"};
    static constexpr bool holds_nothing = true;
    static constexpr bool is_for_threads = true;
    std::chrono::nanoseconds duration{};
};

struct Step;
struct RepeatStep {
    static constexpr OperationInfo info{"repeat", "run nested steps several times"};
    static constexpr bool is_for_threads = true;
    std::uint64_t times{1};
    std::vector<Step> steps;
};

// A block of the program. Names first allocated in it end with it, and so does an arena's memory.
struct ScopeStep {
    static constexpr OperationInfo info{
        "scope", "run nested steps as a block: names first allocated in it end with it, an arena's memory too"};
    std::vector<Step> steps;
};

// Runs its steps in several threads at once. Each thread has names of its own, which end with the block.
struct ParallelStep {
    static constexpr OperationInfo info{"parallel",
                                        "run nested steps in several threads at once, each with names of its own"};
    std::uint64_t threads{2};
    std::vector<Step> steps;
};

// In a parallel block: passes the arrays of a name to the next thread of the ring, and takes those of the one before.
template <typename Name>
struct Pass {
    static constexpr OperationInfo info{
        "pass", "in a parallel block: hand the arrays of a name to the next thread, take those of the one before"};
    static constexpr bool holds_nothing = true;
    static constexpr bool is_for_threads = true;
    Name target{};

    [[nodiscard]] auto with(const auto& slot) const { return Pass<decltype(slot(target))>{slot(target)}; }
};
using PassStep = Pass<std::string>;

// Every Nth time it is reached an exception leaves the innermost scope. The names allocated there lose their references
// without a manual free.
struct ThrowStep {
    static constexpr OperationInfo info{
        "throw", "every Nth time, leave the innermost scope by an exception, past its manual frees"};
    static constexpr bool holds_nothing = true;
    std::uint64_t every{1};
};

using Operation = std::variant<AllocStep, AllocFreeStep, WriteStep, ReadStep, BinaryStep, ConcatStep, ViewStep,
                               FreeStep, ReleaseStep, DropStep, CollectStep, DrainStep, TrimStep, PrefetchStep,
                               MigrateStep, StreamStep, ShareStep, TransferStep, SampleStep, IdleStep, RepeatStep,
                               ScopeStep, ParallelStep, PassStep, ThrowStep, ReplayStep, PurgeStep>;

struct Step {
    Operation operation;
    std::string phase;  // empty: a top-level step is its own phase, named after its operation
    bool timed{};       // wall_time covers only such steps, when a scenario marks any
    std::string where;  // file:line:col, for messages; empty in steps made by code
};

// The steps nested in one, with how often it runs them; {0, nullptr} when it nests none.
struct Nested {
    std::uint64_t times{};
    const std::vector<Step>* steps{};
};
[[nodiscard]] Nested nested(const Operation& operation);

// The info of every operation, in the order of Operation's alternatives.
[[nodiscard]] std::span<const OperationInfo> operations();
[[nodiscard]] std::string_view operation_name(const Operation& operation);

// Bytes of one array of this step; empty when the product overflows 64 bits.
[[nodiscard]] std::optional<std::uint64_t> array_bytes(const AllocStep& step);

// Host memory that transfers take while they run: ends, slots, and the memory that the program reads. Devices that are
// processors hold their memory there too, so it counts.
[[nodiscard]] std::uint64_t host_bytes(const TransferStep& step);

}  // namespace memsweep::model
