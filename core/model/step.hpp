// One step of a scenario, with every axis value and variable already substituted.
//
// A Step's operation is a closed variant: a new operation is a compile error in every visitor.
// Units    bytes, elements and counts as named; shapes in elements, slowest-varying dimension first.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/model/dtype.hpp"
#include "core/model/prefetch.hpp"
#include "core/model/transfer_step.hpp"
#include "core/model/trim.hpp"

namespace memsweep::model {

enum class Touch : std::uint8_t {
    none,  // nothing is written: no page becomes resident
    page,  // one byte of each page
    full,  // every byte
};

enum class Fill : std::uint8_t { none, zeros, ones, arange };

enum class BinaryFunction : std::uint8_t { add, multiply };

// What a replay writes into the blocks that it allocates.
enum class ReplayTouch : std::uint8_t {
    recorded,    // as the trace says; first_byte where it says nothing
    none,        // nothing
    first_byte,  // of the block and of each further page
    all,         // every byte
};

enum class ReplaySpeed : std::uint8_t { maximum, original };

template <>
std::span<const Named<Touch>> names<Touch>();
template <>
std::span<const Named<Fill>> names<Fill>();
template <>
std::span<const Named<BinaryFunction>> names<BinaryFunction>();
template <>
std::span<const Named<ReplayTouch>> names<ReplayTouch>();
template <>
std::span<const Named<ReplaySpeed>> names<ReplaySpeed>();

// Allocates `count` arrays under one name. A name in use is rebound as in Python: the new arrays are
// made first, then the old ones dropped.
struct AllocStep {
    std::string as;
    std::uint64_t count{1};
    DType dtype{DType::float64};
    std::vector<std::uint64_t> shape;
    Fill fill{Fill::none};
    Touch touch{Touch::none};
};

struct WriteStep {
    std::string target;
    Touch touch{Touch::full};
    std::uint64_t overrun_bytes{};  // written past the end as well: a planted defect, for guard pages to catch
};

// Every byte is read and goes into the repetition's checksum.
struct ReadStep {
    std::string target;
};

// as = left (function) right, element by element, into a new array each (NumPy's ufunc into a fresh result).
struct BinaryStep {
    BinaryFunction function{};
    std::string as;
    std::string left;
    std::string right;
};

struct ConcatCase;

// Calls one case of the concatenation sweep, each call timed by itself. Its inputs are made before the first call and
// live until the repetition ends; every result is dropped as soon as it is there, and never freed by hand.
struct ConcatStep {
    const ConcatCase* what{};
    std::uint64_t warmup{};  // calls before those that are timed
    std::uint64_t calls{};   // timed
    std::string out;         // name of the array that results are written to, where the case has one
};

// as = each array of `of`, rows `start` to `stop` of it: a view that shares its buffer, or a copy of its own.
struct ViewStep {
    std::string as;
    std::string of;
    std::uint64_t start{};
    std::uint64_t stop{};
    bool copy{};
};

struct DropStep {
    std::string target;
};

// The program frees the arrays itself; the names keep their handles. A mode without manual frees disregards it.
struct FreeStep {
    std::string target;
};

// Drops a reference that the program does not hold: a planted defect.
struct ReleaseStep {
    std::string target;
};

struct CollectStep {};  // find what is unreachable; with a finalizer this only queues it
struct DrainStep {};    // wait until everything found has been released

// Takes the resident pages of the arrays of a name away; the name keeps its arrays.
struct TrimStep {
    std::string target;
    TrimHow how{TrimHow::soft};
};

// Brings the pages of the arrays of a name in before they are used; their contents stay.
struct PrefetchStep {
    std::string target;
    PrefetchHow how{PrefetchHow::populate_write};
};

// Moves the resident pages of the arrays of a name to a NUMA node.
struct MigrateStep {
    std::string target;
    std::uint32_t node{};
};

// Goes once through the arrays of a name, chunk by chunk, with the next chunks on their way.
struct StreamStep {
    std::string target;
    std::uint64_t chunk_bytes{8U << 20U};
    std::uint64_t ahead{1};  // chunks asked for before they are needed
    bool drop_behind{};      // what has been gone through leaves the resident set
    bool write{};            // instead of reading into the checksum
};

// Named shared memory between this process and another: what one writes the other reads and checks.
struct ShareStep {
    std::uint64_t bytes{16U << 20U};
    std::uint64_t rounds{16};
};

struct SampleStep {
    std::string name;
    bool counters_only{};  // nothing is read from /proc: cheap enough for every turn of a loop
};

// Allocates and frees as a recorded program did: in the order of its events, and between its threads in the order in
// which blocks went from one to another. Under release mode immediate the calls go straight to the memory; any other
// mode gives every block a handle, whose drop is the recorded free.
struct ReplayStep {
    std::string trace;        // path of the file
    std::string content;      // checksum of its bytes
    std::uint32_t threads{};  // recorded threads are dealt out to so many; 0: to one each
    ReplayTouch touch{ReplayTouch::recorded};
    ReplaySpeed speed{ReplaySpeed::maximum};
    bool latency{};                   // every call is timed by itself; such a replay is no part of time_per_event
    std::uint64_t peak_live_bytes{};  // of the recording
    std::uint64_t bytes_allocated{};
    std::uint64_t largest_block_bytes{};
};

// The allocator and the pool are asked to give the system back what they hold idle.
struct PurgeStep {};

struct IdleStep {
    std::chrono::nanoseconds duration{};
};

struct Step;
struct RepeatStep {
    std::uint64_t times{1};
    std::vector<Step> steps;
};

// A block of the program: names first allocated in it end with it, an arena's memory too.
struct ScopeStep {
    std::vector<Step> steps;
};

// Its steps in several threads at once, each with names of its own, which end with the block.
struct ParallelStep {
    std::uint64_t threads{2};
    std::vector<Step> steps;
};

// In a parallel block: the arrays of a name go to the next thread of the ring, those of the one before come here.
struct PassStep {
    std::string target;
};

// Every Nth time it is reached an exception leaves the innermost scope: the names allocated there lose their
// references without a manual free.
struct ThrowStep {
    std::uint64_t every{1};
};

using Operation =
    std::variant<AllocStep, WriteStep, ReadStep, BinaryStep, ConcatStep, ViewStep, FreeStep, ReleaseStep, DropStep,
                 CollectStep, DrainStep, TrimStep, PrefetchStep, MigrateStep, StreamStep, ShareStep, TransferStep,
                 SampleStep, IdleStep, RepeatStep, ScopeStep, ParallelStep, PassStep, ThrowStep, ReplayStep, PurgeStep>;

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

// Name and meaning of every operation, in the order of Operation's alternatives.
struct OperationInfo {
    std::string_view name;
    std::string_view meaning;
};
[[nodiscard]] std::span<const OperationInfo> operations();
[[nodiscard]] std::string_view operation_name(const Operation& operation);

// Bytes of one array of this step; empty when the product overflows 64 bits.
[[nodiscard]] std::optional<std::uint64_t> array_bytes(const AllocStep& step);

}  // namespace memsweep::model
