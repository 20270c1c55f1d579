#include "core/engine/crew.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "core/array/checksum.hpp"
#include "core/memory/prefetch.hpp"
#include "core/sys/numa_nodes.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::engine {
namespace {

using memory::AllocStatus;

std::size_t most_threads(std::span<const Instruction> instructions)
{
    std::uint64_t most = 0;
    for (const Instruction& one : instructions) {
        most = one.op == OpCode::parallel ? std::max(most, one.count) : most;
    }
    return most;
}

std::uint64_t array_bytes(const Instruction& one)
{
    std::uint64_t bytes = model::size_bytes(one.dtype);
    for (std::uint8_t i = 0; i < one.dimensions; ++i) {
        bytes *= one.shape[i];
    }
    return bytes;
}

std::vector<std::uint32_t> processors_in_turn(std::size_t threads)
{
    const std::vector<std::uint32_t> cpus = sys::allowed_cpus();
    std::vector<std::uint32_t> in_turn;
    for (std::size_t i = 0; i < threads && !cpus.empty(); ++i) {
        in_turn.push_back(cpus[i % cpus.size()]);
    }
    return in_turn;
}

}  // namespace

Crew::Crew(const RunRegion& region, World& world, Environment environment)
    : world_{world}, clock_{environment.clock}, page_bytes_{sys::page_size()},
      members_(most_threads(region.instructions))
{
    for (Member& member : members_) {
        member.handles.resize(region.slots.size());
        std::size_t largest = 0;
        for (std::size_t i = 0; i < region.slots.size(); ++i) {
            member.handles[i].reserve(region.slots[i].capacity);
            largest = std::max<std::size_t>(largest, region.slots[i].capacity);
        }
        member.inbox.reserve(largest);
    }
    if (!members_.empty()) {
        if (auto gang = transfer::Gang::start(clock_, processors_in_turn(members_.size()))) {
            gang_.emplace(*std::move(gang));
        }
    }
}

Crew::~Crew() = default;

Crew::Done Crew::run(const Instruction& block, std::span<const Instruction> body, std::uint64_t& checksum)
{
    if (!gang_) {
        return {.status = AllocStatus::no_process};
    }
    const std::size_t threads = block.count;
    aborted_.store(false, std::memory_order_relaxed);
    gang_->run([&](std::size_t number) {
        if (number >= threads) {
            return;
        }
        Member& member = members_[number];
        member.done = {};
        member.checksum = 0;
        if (!run_body(number, threads, body)) {
            aborted_.store(true, std::memory_order_release);
        }
        for (Handles& handles : member.handles) {
            handles.forget();
        }
    });
    Done sum;
    for (Member& member : std::span{members_}.first(threads)) {
        member.inbox.forget();
        member.full.store(false, std::memory_order_relaxed);
        sum.arrays += member.done.arrays;
        sum.pages_touched += member.done.pages_touched;
        sum.passed += member.done.passed;
        sum.reads += member.done.reads;
        sum.prefetched_bytes += member.done.prefetched_bytes;
        sum.prefetches_refused += member.done.prefetches_refused;
        if (member.done.status != AllocStatus::ok) {
            sum.status = member.done.status;
            sum.refused_bytes = member.done.refused_bytes;
        }
        if (member.done.reads != 0) {
            checksum = array::chained(checksum, member.checksum);
        }
    }
    return sum;
}

bool Crew::run_body(std::size_t number, std::size_t threads, std::span<const Instruction> body)
{
    for (std::size_t at = 0; at < body.size(); at += 1 + body[at].length) {
        if (!execute(number, threads, body[at], body.subspan(at + 1, body[at].length))) {
            return false;
        }
    }
    return true;
}

// False: refused, here or in another thread. The loader lets no other step into a block.
bool Crew::execute(std::size_t number, std::size_t threads, const Instruction& one, std::span<const Instruction> inner)
{
    Member& member = members_[number];
    Handles& handles = member.handles[one.slot];
    switch (one.op) {
    case OpCode::alloc:
        return allocate(member, one);
    case OpCode::write:
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            array::touch(handles.current[i].data(), handles.current[i].bytes(), one.touch);
        }
        member.done.pages_touched += handles.first_touch(page_bytes_);
        return true;
    case OpCode::read:
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            const array::Array& array = handles.current[i];
            member.checksum = array::chained(member.checksum, array::checksum(array.data(), array.bytes()));
            ++member.done.reads;
        }
        return true;
    case OpCode::prefetch:
        for (std::size_t i = 0; i < handles.in_use; ++i) {
            const memory::Prefetched got =
                memory::prefetch(handles.current[i].data(), handles.current[i].bytes(), one.prefetch);
            member.done.prefetched_bytes += got.bytes;
            member.done.prefetches_refused += got.refused ? 1 : 0;
        }
        return true;
    case OpCode::drop:
        handles.forget();
        return true;
    case OpCode::pass:
        return pass(number, threads, one);
    case OpCode::idle:
        clock_.sleep_for(std::chrono::nanoseconds{static_cast<std::int64_t>(one.count)});
        return true;
    case OpCode::repeat:
        for (std::uint64_t turn = 0; turn < one.count; ++turn) {
            if (!run_body(number, threads, inner)) {
                return false;
            }
        }
        return true;
    default:
        return true;
    }
}

bool Crew::allocate(Member& member, const Instruction& one)
{
    Handles& handles = member.handles[one.slot];
    for (std::uint64_t i = 0; i < one.count; ++i) {
        auto made =
            array::Array::create(world_.heap, one.dtype, {one.shape.data(), one.dimensions}, one.fill, one.touch);
        if (made.status != AllocStatus::ok) {
            member.done.status = made.status;
            member.done.refused_bytes = array_bytes(one);
            return false;
        }
        handles.fresh[i] = std::move(made.array);
    }
    handles.rebind(one.count);
    handles.written = false;
    member.done.arrays += one.count;
    if (one.touch != model::Touch::none) {
        member.done.pages_touched += handles.first_touch(page_bytes_);
    }
    return true;
}

// Given before taken: the first inboxes are empty, and each thread empties its own before it waits for the next's.
bool Crew::pass(std::size_t number, std::size_t threads, const Instruction& one)
{
    Member& member = members_[number];
    Member& next = members_[(number + 1) % threads];
    Handles& mine = member.handles[one.slot];
    if (!wait_until(next.full, false)) {
        return false;
    }
    const auto hand_over = [](Handles& from, Handles& to) {
        for (std::size_t i = 0; i < from.in_use; ++i) {
            to.current[i] = std::move(from.current[i]);
        }
        to.in_use = std::exchange(from.in_use, 0);
        to.written = from.written;
    };
    member.done.passed += threads > 1 ? mine.in_use : 0;
    hand_over(mine, next.inbox);
    next.full.store(true, std::memory_order_release);
    if (!wait_until(member.full, true)) {
        return false;
    }
    hand_over(member.inbox, mine);
    member.full.store(false, std::memory_order_release);
    return true;
}

bool Crew::wait_until(const std::atomic<bool>& full, bool value) const
{
    constexpr int patience = 2000;  // the neighbour may not have a processor now
    for (int spins = 0; full.load(std::memory_order_acquire) != value; ++spins) {
        if (aborted_.load(std::memory_order_acquire)) {
            return false;
        }
        if (spins > patience) {
            std::this_thread::yield();
        }
    }
    return true;
}

}  // namespace memsweep::engine
