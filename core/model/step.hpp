// One step of a scenario, with all axis values and variables substituted.
//
// Each operation is a struct with its name, its meaning and its parameters; Operation is the variant of all of them.
//
// Most operations that use named arrays are templates. The parameter is the type that stands for a name: a string in a
// scenario, the index of the name's slot in a compiled program (core/engine/repetition/step_program.hpp). with()
// translates the string into the index. An operation without names and without a compiled form of its own is sent to
// the worker unchanged, so all its members are trivially copyable.
//
// Units    bytes, elements and counts, as in the names of the fields. Shapes are in elements, with the slowest-varying
//          dimension first.
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

// The description of an operation, in the static member `info` of its struct. The struct of the operation may
// also have these constants; it leaves out those that would be false:
//   holds_nothing    the operation does not change the estimate of the memory that a case holds
//   keeps_no_array   the operation makes blocks and frees them before it ends; in time_per_op, each block counts as
//                    one operation
//   is_for_threads   the operation may be used in a parallel block, because each thread can run it independently. It
//                    takes no timings, records no sample points, and touches nothing that belongs to the whole process
struct OperationInfo {
    std::string_view name;
    std::string_view meaning;
    bool is_for_threads{};
};

// Allocates `count` arrays under one name. If the name is in use, it is rebound as in Python: the new arrays are made
// first, then the old ones are dropped.
struct AllocStep {
    static constexpr OperationInfo info{
        "alloc",
        "allocate arrays under a name; if the name is in use, the new arrays are made before the old ones are dropped"};
    static constexpr bool is_for_threads = true;
    std::string as;
    std::uint64_t count{1};
    DType dtype{DType::float64};
    std::vector<std::uint64_t> shape;
    Fill fill{Fill::none};
    Touch touch{Touch::none};
};

// Allocates a block from the memory resource and frees it, `times` times. The step makes no array, uses no release mode
// and writes nothing.
struct AllocFreeStep {
    static constexpr OperationInfo info{
        "alloc_free", "allocate a block and free it at once, `times` times, with no array or release mode in between"};
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
    std::uint64_t overrun_bytes{};  // also written past the end: a deliberate defect for guard pages to catch

    [[nodiscard]] auto with(const auto& slot) const
    {
        return Write<decltype(slot(target))>{slot(target), touch, overrun_bytes};
    }
};
using WriteStep = Write<std::string>;

// Reads every byte into the repetition's checksum.
template <typename Name>
struct Read {
    static constexpr OperationInfo info{"read", "read every byte of the arrays of a name, and add it to the checksum"};
    static constexpr bool holds_nothing = true;
    static constexpr bool is_for_threads = true;
    Name target{};

    [[nodiscard]] auto with(const auto& slot) const { return Read<decltype(slot(target))>{slot(target)}; }
};
using ReadStep = Read<std::string>;

// Applies `function` to `left` and `right` element by element and stores the results in new arrays named `as`, like a
// NumPy ufunc without `out`.
template <typename Name>
struct Binary {
    static constexpr OperationInfo info{"binary", "add or multiply two arrays into a new one"};
    BinaryFunction function{};
    Name as{};
    Name left{};
    Name right{};

    // The slots of the operands are looked up before the result's.
    [[nodiscard]] auto with(const auto& slot) const
    {
        const auto first = slot(left);
        const auto second = slot(right);
        return Binary<decltype(slot(as))>{function, slot(as), first, second};
    }
};
using BinaryStep = Binary<std::string>;

struct ConcatCase;

// Calls one of the concatenations in concat_case.hpp repeatedly and times each call. The inputs are made before the
// first call and live until the repetition ends. Each result is dropped right after its call; it is never freed by
// hand.
struct ConcatStep {
    static constexpr OperationInfo info{
        "concat", "run a case of the concatenation sweep, time each call by itself, and check the result"};
    const ConcatCase* what{};
    std::uint64_t warmup{};  // untimed calls before the timed ones
    std::uint64_t calls{};   // timed calls
    std::string out;         // name of the existing array for results; empty: each call makes a new array
};

// From each array named `of`, takes the rows from `start` up to, but not including, `stop`. The results are named `as`.
// They are views that share the arrays' buffers or, if `copy` is set, copies.
template <typename Name>
struct View {
    static constexpr OperationInfo info{
        "view", "give rows of a name's arrays another name: as a view that shares their memory, or as a copy"};
    Name as{};
    Name of{};
    std::uint64_t start{};
    std::uint64_t stop{};
    bool copy{};

    // The slot of the source is looked up before the result's.
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

// Frees the arrays by hand; the name keeps its references. Release modes without manual frees ignore this step.
template <typename Name>
struct Free {
    static constexpr OperationInfo info{"free", "free the arrays of a name by hand; the name keeps its references"};
    static constexpr bool holds_nothing = true;  // the estimate counts freed arrays until they are dropped
    Name target{};

    [[nodiscard]] auto with(const auto& slot) const { return Free<decltype(slot(target))>{slot(target)}; }
};
using FreeStep = Free<std::string>;

// Drops a reference that the program does not hold: a deliberate defect.
template <typename Name>
struct Release {
    static constexpr OperationInfo info{"release",
                                        "drop a reference that the program does not hold: a planted mistake"};
    static constexpr bool holds_nothing = true;
    Name target{};

    [[nodiscard]] auto with(const auto& slot) const { return Release<decltype(slot(target))>{slot(target)}; }
};
using ReleaseStep = Release<std::string>;

// Runs a collection. If the release mode has a finalizer, the collection only queues unreachable arrays.
struct CollectStep {
    static constexpr OperationInfo info{"collect",
                                        "run a collection: unreachable arrays are found and queued for release"};
};

struct DrainStep {
    static constexpr OperationInfo info{"drain", "wait until every array that a collection found has been released"};
};

// Removes resident pages of the arrays; the arrays themselves remain.
template <typename Name>
struct Trim {
    static constexpr OperationInfo info{
        "trim",
        "take away the resident pages of a name's arrays, by one of the mechanisms below; contents may be lost"};
    static constexpr bool holds_nothing = true;
    Name target{};
    TrimHow how{TrimHow::soft};

    [[nodiscard]] auto with(const auto& slot) const { return Trim<decltype(slot(target))>{slot(target), how}; }
};
using TrimStep = Trim<std::string>;

template <typename Name>
struct Prefetch {
    static constexpr OperationInfo info{"prefetch",
                                        "bring in the pages of a name's arrays before they are used; contents kept"};
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

// Reads or writes the arrays of a name once, chunk by chunk, and requests the next chunks in advance.
template <typename Name>
struct Stream {
    static constexpr OperationInfo info{"stream", "go once through the arrays of a name in chunks, while the next "
                                                  "chunks are read ahead and the last ones dropped"};
    Name target{};
    std::uint64_t chunk_bytes{8U << 20U};
    std::uint64_t ahead{1};  // number of chunks requested in advance
    bool drop_behind{};      // used chunks are removed from the resident set
    bool write{};            // write; otherwise read into the checksum

    [[nodiscard]] auto with(const auto& slot) const
    {
        return Stream<decltype(slot(target))>{slot(target), chunk_bytes, ahead, drop_behind, write};
    }
};
using StreamStep = Stream<std::string>;

// Sends data to a second process through named shared memory: one process writes, the other reads and checks.
struct ShareStep {
    static constexpr OperationInfo info{
        "share", "share named memory with a second process, which reads and checks what this one writes"};
    std::uint64_t bytes{16U << 20U};
    std::uint64_t rounds{16};
};

// Runs all `jobs` at the same time, and repeats this `options.times` times.
struct TransferStep {
    static constexpr OperationInfo info{
        "transfer",
        "move bytes between places, several transfers at once, by a given or chosen strategy; every byte is checked"};
    std::vector<TransferJob> jobs;  // run at the same time
    TransferOptions options;
};

struct SampleStep {
    static constexpr OperationInfo info{"sample",
                                        "record a named point: live bytes, working set, faults and queue depth"};
    static constexpr bool holds_nothing = true;
    std::string name;
    bool counters_only{};  // reads nothing from /proc, so that it is cheap enough for every iteration of a loop
};

// Allocates and frees as a recorded program did. Each thread keeps the order of its events. A block that one thread
// allocates and another one frees is freed after its allocation. Apart from these two rules, the order of events in
// different threads is kept only roughly. The recording is divided into sections, within which threads do not wait for
// each other. If several threads have events in a section, it ends before its allocations exceed a limit: a 64th of the
// peak or 64 KiB, whichever is larger. With release mode `immediate`, the calls go straight to the memory resource.
// With any other mode each block has a handle, which the recorded free drops.
struct ReplayStep {
    static constexpr OperationInfo info{
        "replay", "allocate and free as a recorded program did, thread by thread, and free the rest at the end"};
    std::string trace;        // path of the file
    std::string content;      // checksum of the file's bytes
    std::uint32_t threads{};  // number of threads that share the recorded threads' events; 0: one per recorded thread
    ReplayTouch touch{ReplayTouch::recorded};
    ReplaySpeed speed{ReplaySpeed::maximum};
    bool latency{};                     // times every call by itself; this step then does not count in time_per_event
    std::chrono::nanoseconds settle{};  // idle time after the last event, while the blocks left over are still live
    std::vector<bool> left_out;         // per call stack: whether its blocks are left out; scenarios cannot set this
    std::string until;  // the moment at which the replay ends, as text for trace::parse_moment; scenarios cannot set it
    // The next three are numbers of the recording.
    std::uint64_t peak_live_bytes{};
    std::uint64_t bytes_allocated{};
    std::uint64_t largest_block_bytes{};
};

struct PurgeStep {
    static constexpr OperationInfo info{"purge",
                                        "ask the allocator and the pool to return their idle memory to the system"};
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

// Runs its steps as a block of the program. At the end of the block, names that were first allocated inside it are
// dropped, and an arena frees what the block allocated.
struct ScopeStep {
    static constexpr OperationInfo info{
        "scope",
        "run nested steps as a block; names first allocated in it end with the block, and so does an arena's memory"};
    std::vector<Step> steps;
};

// Runs its steps in several threads at the same time. Each thread has its own names, which end with the block.
struct ParallelStep {
    static constexpr OperationInfo info{"parallel",
                                        "run nested steps in several threads at once; each thread has its own names"};
    std::uint64_t threads{2};
    std::vector<Step> steps;
};

// Passes the arrays of a name to the next thread and takes over the arrays that the previous thread passes. This step
// is only for parallel blocks, whose threads form a ring.
template <typename Name>
struct Pass {
    static constexpr OperationInfo info{
        "pass", "in a parallel block: hand a name's arrays to the next thread, and take those of the previous thread"};
    static constexpr bool holds_nothing = true;
    static constexpr bool is_for_threads = true;
    Name target{};

    [[nodiscard]] auto with(const auto& slot) const { return Pass<decltype(slot(target))>{slot(target)}; }
};
using PassStep = Pass<std::string>;

// Every Nth time (N is `every`) that the program reaches this step, the step leaves the innermost scope by an
// exception. Names allocated in that scope lose their references without a manual free.
struct ThrowStep {
    static constexpr OperationInfo info{
        "throw", "every Nth time, leave the innermost scope by an exception, which skips its manual frees"};
    static constexpr bool holds_nothing = true;
    std::uint64_t every{1};
};

using Operation = std::variant<AllocStep, AllocFreeStep, WriteStep, ReadStep, BinaryStep, ConcatStep, ViewStep,
                               FreeStep, ReleaseStep, DropStep, CollectStep, DrainStep, TrimStep, PrefetchStep,
                               MigrateStep, StreamStep, ShareStep, TransferStep, SampleStep, IdleStep, RepeatStep,
                               ScopeStep, ParallelStep, PassStep, ThrowStep, ReplayStep, PurgeStep>;

struct Step {
    Operation operation;
    std::string phase;  // empty: a top-level step is a phase of its own, named after its operation
    bool timed{};       // if any step of a scenario is timed, wall_time covers only the timed steps
    std::string where;  // file:line:col, for messages; empty in steps made by code
};

// The steps nested in an operation, and how many times they run; {0, nullptr} if there are none.
struct Nested {
    std::uint64_t times{};
    const std::vector<Step>* steps{};
};
[[nodiscard]] Nested nested(const Operation& operation);

// The info of every operation, in the order of Operation's alternatives.
[[nodiscard]] std::span<const OperationInfo> operations();
[[nodiscard]] std::string_view operation_name(const Operation& operation);

// Size of one array of this step in bytes; empty if it overflows 64 bits.
[[nodiscard]] std::optional<std::uint64_t> array_bytes(const AllocStep& step);

// The host memory that the transfers use while they run, in bytes. This is the sum of both ends of each transfer, the
// staging slots if the chunk size is given, and the memory that the step reads in place of the program's own work
// (`work_bytes`). Ends on devices count too: if the device is a CPU (OpenCL), its memory is host memory.
[[nodiscard]] std::uint64_t host_bytes(const TransferStep& step);

}  // namespace memsweep::model
