#include "core/trace/recorder/call_stacks.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <sys/mman.h>

#include "core/trace/format/recording_layout.hpp"
#include "core/trace/recorder/call_tree.hpp"
#include "core/trace/recorder/found_object.hpp"
#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/python_stacks.hpp"
#include "core/trace/recorder/recording_file.hpp"
#include "core/trace/recorder/thread_stacks.hpp"
#include "core/trace/recorder/unwind_rule.hpp"

namespace memsweep::trace::recorder {
namespace {

using AllThreads = std::array<ThreadStacks, max_slots>;

// Which rule an address has: 48 bits of it, mixed reversibly, are its place and its mark.
constexpr unsigned place_bits = 16;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own them
CallTree* tree;  // a forked child finds it zeroed; null: no stacks are asked for, or can be had
AllThreads* threads;
std::atomic<std::uint64_t>* rules;
FoundObject us;
std::uint64_t sampled_every;       // bytes; 0: all
constinit long problem = -ENOSYS;  // why there is no tree
// Changes when what is remembered may no longer hold.
constinit std::atomic<std::uint64_t> epoch{1};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

std::uint64_t word(std::uint64_t address) noexcept
{
    return *reinterpret_cast<const std::uint64_t*>(address);  // NOLINT(performance-no-int-to-ptr): within bounds
}

void* map_memory(std::size_t bytes) noexcept
{
    const long at = map_own_memory(bytes, MAP_NORESERVE);
    return at < 0 ? nullptr : reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr): what mmap gave
}

void forget_rules() noexcept
{
    for (std::size_t place = 0; place < std::size_t{1} << place_bits; ++place) {
        if (rules[place].load(std::memory_order_relaxed) != 0) {
            rules[place].store(0, std::memory_order_relaxed);
        }
    }
    epoch.fetch_add(1, std::memory_order_release);
}

enum class Step : std::uint8_t { made, made_otherwise, interrupted, outermost, failed };

#if defined(__x86_64__)

// What the rules are made of names its objects.
void note_objects_of(const std::uint64_t* /*addresses*/, std::size_t /*count*/) noexcept {}

__attribute__((noinline)) UnwindRule new_rule(std::uint64_t next, std::uint64_t place, std::uint64_t mark) noexcept
{
    FoundObject object;
    if (!find_object(next - 1, object)) {
        return {RuleKind::by_frame_pointer};  // code that was made at run time: another may be there tomorrow
    }
    if (tree->note_object(object).replaces) {
        forget_rules();
    }
    const UnwindRule rule = object.frame_header == nullptr ? UnwindRule{RuleKind::by_frame_pointer}
                                                           : rule_at(object.frame_header, next - 1);
    rules[place].store(mark << 32U | rule.packed(), std::memory_order_relaxed);
    return rule;
}

__attribute__((always_inline)) inline UnwindRule rule_of(std::uint64_t next) noexcept
{
    constexpr std::uint64_t odd = 0x9E3779B97F4B;
    const std::uint64_t mixed = next * odd << 16U;
    const std::uint64_t place = mixed >> (64U - place_bits);
    const std::uint64_t mark = mixed >> 16U & 0xFFFFFFFFU;
    const std::uint64_t entry = rules[place].load(std::memory_order_relaxed);
    if (entry >> 32U == mark && static_cast<std::uint32_t>(entry) != 0) [[likely]] {
        return UnwindRule::unpacked(static_cast<std::uint32_t>(entry));
    }
    return new_rule(next, place, mark);
}

// From the kernel's struct rt_sigframe and ucontext: where the interrupted registers are.
Step leave_signal_frame(Registers& registers, const Bounds& bounds) noexcept
{
    constexpr std::uint64_t registers_at = 40;
    constexpr std::uint64_t frame_at = registers_at + std::uint64_t{10} * 8;
    constexpr std::uint64_t stack_at = registers_at + std::uint64_t{15} * 8;
    constexpr std::uint64_t next_at = registers_at + std::uint64_t{16} * 8;
    const std::uint64_t context = registers.stack;
    if (!bounds.holds_word(context) || !bounds.holds_word(context + next_at)) {
        return Step::failed;
    }
    registers = {word(context + next_at) + 1, word(context + stack_at), word(context + frame_at)};
    return Step::interrupted;
}

// Nothing says how this frame is left. A frame pointer that leads to something executable is believed.
Step leave_by_frame_pointer(Registers& registers, const Bounds& bounds) noexcept
{
    const std::uint64_t frame = registers.frame;
    if (frame == 0) {
        return Step::outermost;  // as the psABI has it
    }
    if (frame < registers.stack || !bounds.holds_word(frame) || !bounds.holds_word(frame + 8)) {
        return Step::failed;
    }
    registers = {word(frame + 8), frame + 16, word(frame)};
    return registers.next > 4096 ? Step::made_otherwise : Step::failed;
}

__attribute__((noinline)) Step leave_otherwise(UnwindRule rule, Registers& registers, const Bounds& bounds) noexcept
{
    std::uint64_t above = 0;
    switch (rule.kind) {
    case RuleKind::outermost:
        return Step::outermost;
    case RuleKind::signal_frame:
        return leave_signal_frame(registers, bounds);
    case RuleKind::linkage_table:
        above = registers.stack + 8 + ((registers.next - 1) % 16 >= rule.offset ? 8 : 0);
        break;
    case RuleKind::through_frame_pointer: {
        const std::uint64_t at = registers.frame - 8 * std::uint64_t{rule.offset};
        if (!bounds.holds_word(at) || !bounds.holds_word(registers.frame)) {
            return Step::failed;
        }
        above = word(at);
        registers.frame = word(registers.frame);
        break;
    }
    default:
        return leave_by_frame_pointer(registers, bounds);
    }
    if (above <= registers.stack || !bounds.holds_word(above - 8)) {
        return Step::failed;
    }
    registers.stack = above;
    registers.next = word(above - 8);
    return Step::made_otherwise;
}

// To the caller's registers.
__attribute__((always_inline)) inline Step leave(Registers& registers, const Bounds& bounds,
                                                 std::uint64_t& saved_at) noexcept
{
    const UnwindRule rule = rule_of(registers.next);
    saved_at = 0;
    if (rule.kind != RuleKind::from_stack_pointer && rule.kind != RuleKind::from_frame_pointer) [[unlikely]] {
        Registers others = registers;  // those of the caller stay in the processor's
        const Step step = leave_otherwise(rule, others, bounds);
        registers = others;
        return step;
    }
    const std::uint64_t base = rule.kind == RuleKind::from_stack_pointer ? registers.stack : registers.frame;
    const std::uint64_t above = base + 8 * std::uint64_t{rule.offset};
    if (above <= registers.stack || !bounds.holds_word(above - 8)) [[unlikely]] {
        return Step::failed;
    }
    registers.next = word(above - 8);
    registers.stack = above;
    if (rule.saved_at != 0) {
        saved_at = above - 8 * std::uint64_t{rule.saved_at};
        if (!bounds.holds_word(saved_at)) [[unlikely]] {
            return Step::failed;
        }
        registers.frame = word(saved_at);
    }
    return Step::made;
}

// A place of this function, and the registers there.
#define MEMSWEEP_OWN_REGISTERS(registers)                                                                              \
    __asm__ volatile("leaq 0f(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2\n0:"                                      \
                     : "=&r"((registers).next), "=&r"((registers).stack), "=&r"((registers).frame))

#else

void note_objects_of(const std::uint64_t* addresses, std::size_t count) noexcept
{
    for (std::size_t i = 0; i < count; ++i) {
        FoundObject object;
        if (find_object(addresses[i] - 1, object) && tree->note_object(object).replaces) {
            forget_rules();
        }
    }
}

__attribute__((always_inline)) inline Step leave(Registers& registers, const Bounds& bounds,
                                                 std::uint64_t& saved_at) noexcept
{
    saved_at = 0;
    const std::uint64_t frame = registers.frame;
    if (frame == 0) {
        return Step::outermost;
    }
    if (frame < registers.stack || !bounds.holds_word(frame) || !bounds.holds_word(frame + 8)) {
        return Step::failed;
    }
    registers = {word(frame + 8), frame + 16, word(frame)};
    return registers.next > 4096 ? Step::made_otherwise : Step::outermost;
}

#define MEMSWEEP_OWN_REGISTERS(registers)                                                                              \
    (registers) = {reinterpret_cast<std::uint64_t>(&call_stack) + 1,                                                   \
                   reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)),                                        \
                   reinterpret_cast<std::uint64_t>(__builtin_frame_address(0))}

#endif

// The number of the stack that begins with `parent` and goes on with these addresses, outermost first. 0: no room.
std::uint32_t number_of(std::uint64_t generation, std::uint32_t parent, const std::uint64_t* addresses,
                        std::uint32_t* numbers, std::size_t count) noexcept
{
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t number = tree->find(parent, addresses[i]);
        if (number == 0) {
            note_objects_of(addresses + i, count - i);
            const bool is_added = tree->add(generation, parent, {addresses + i, count - i}, {numbers + i, count - i});
            return is_added ? numbers[count - 1] : 0;
        }
        numbers[i] = number;
        parent = number;
    }
    return parent;
}

// What a stack begins with that could not be followed to its beginning.
std::uint32_t root(std::uint64_t generation, bool is_cut) noexcept
{
    std::uint32_t number = 0;
    constexpr std::uint64_t address = cut_address;
    return is_cut ? number_of(generation, 0, &address, &number, 1) : 0;
}

// Follows the frames. `join` is asked of each what is known of it; true ends the walk.
template <std::uint32_t most, typename Join>
std::uint32_t follow(Registers registers, Bounds bounds, const Bounds& own, Walk<most>& walk, bool& is_cut,
                     bool& has_signal, Join join) noexcept
{
    std::uint32_t count = 0;
    bool has_changed_stack = false;
    is_cut = false;
    has_signal = false;
    while (true) {
        const bool is_ours = us.contains(registers.next - 1);
        if (!is_ours && join(registers, count)) {
            return count;
        }
        if (count == most) {
            is_cut = true;
            return count;
        }
        Frame& frame = walk.frames[count];
        frame.registers = registers;
        std::uint64_t saved_at = 0;
        const Step step = leave(registers, bounds, saved_at);
        frame.saved_at = saved_at;
        frame.is_remembered = step == Step::made;
        if (!is_ours) {
            ++count;
        } else if (count != 0) {
            walk.frames[count - 1].is_remembered = false;  // its caller is not the next
        }
        has_signal = has_signal || step == Step::interrupted;
        if (step == Step::outermost || step == Step::failed) {
            is_cut = step == Step::failed;
            return count;
        }
        if (!bounds.holds(registers.stack)) {  // from a signal's stack to the thread's
            if (!own.holds(registers.stack) || has_changed_stack) {
                is_cut = true;
                return count;
            }
            bounds = own;
            has_changed_stack = true;
        }
    }
}

template <std::uint32_t most>
std::uint32_t number_by_itself(ThreadStacks& thread, const Registers& registers, Walk<most>& walk) noexcept
{
    const Bounds bounds =
        thread.own.holds(registers.stack) ? thread.own : other_bounds(thread.other, registers.stack, room_of(walk));
    const std::uint64_t generation = tree->generation();
    bool is_cut = false;
    bool has_signal = false;
    const std::uint32_t count = follow(registers, bounds, thread.own, walk, is_cut, has_signal,
                                       [](const Registers&, std::uint32_t) { return false; });
    for (std::uint32_t i = 0; i < count; ++i) {
        walk.addresses[i] = walk.frames[count - 1 - i].registers.next;
    }
    const std::uint32_t parent = root(generation, is_cut);
    return count == 0 ? 0 : number_of(generation, parent, walk.addresses.data(), walk.numbers.data(), count);
}

// As number_of(), where the thread is not interrupted by itself.
std::uint32_t number_of_recent(ThreadStacks& thread, std::uint64_t generation, std::uint32_t parent,
                               std::size_t count) noexcept
{
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t address = thread.walk.addresses[i];
        const std::uint64_t mixed = (address ^ std::uint64_t{parent} << 40U ^ parent) * 0x9E3779B97F4A7C15U;
        RecentNode& recent = thread.recent[mixed >> (64U - recent_bits)];
        if (recent.address != address || recent.parent != parent) {
            const std::uint32_t number = tree->find(parent, address);
            if (number == 0) {
                return number_of(generation, parent, &thread.walk.addresses[i], &thread.walk.numbers[i], count - i);
            }
            recent = {address, parent, number};
        }
        parent = recent.number;
        thread.walk.numbers[i] = parent;
    }
    return parent;
}

// Whether what was remembered behind this frame is still there. Else the first frame whose caller is another.
std::uint32_t unchanged_behind(const ThreadStacks& thread, std::uint32_t from) noexcept
{
    std::uint32_t at = from;
    for (; at != 0; --at) {
        const Frame& frame = thread.remembered[at];
        const Frame& caller = thread.remembered[at - 1];
        const bool is_same = frame.is_remembered && word(caller.registers.stack - 8) == caller.registers.next &&
                             (frame.saved_at == 0 || word(frame.saved_at) == caller.registers.frame);
        if (!is_same) {
            break;
        }
    }
    return at;
}

// On the thread's own stack, with what was met there last.
std::uint32_t number_by_memory(ThreadStacks& thread, const Registers& registers) noexcept
{
    const std::uint64_t now = epoch.load(std::memory_order_acquire);
    const std::uint64_t generation = tree->generation();
    if (thread.epoch != now) {
        thread.depth = 0;
        thread.evaluations_count = 0;
        thread.recent = {};
        thread.epoch = now;
    }
    Walk<most_frames>& walk = thread.walk;
    std::uint32_t kept = 0;  // remembered frames that are still there
    std::uint32_t at = thread.depth;
    bool is_cut = false;
    bool has_signal = false;
    const std::uint32_t count = follow(
        registers, thread.own, thread.own, walk, is_cut, has_signal, [&](const Registers& here, std::uint32_t so_far) {
            while (at != 0 && thread.remembered[at - 1].registers.stack < here.stack) {
                --at;
            }
            if (at == 0) {
                return false;
            }
            const Registers& then = thread.remembered[at - 1].registers;
            if (then.stack != here.stack || then.next != here.next || then.frame != here.frame) {
                return false;
            }
            const std::uint32_t changed = unchanged_behind(thread, at - 1);
            if (changed != 0 || at + so_far > most_frames) {
                at = changed;
                return false;
            }
            kept = at;
            return true;
        });
    thread.root = kept != 0 ? thread.root : root(generation, is_cut);
    thread.depth = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    for (std::uint32_t i = 0; i < count; ++i) {
        thread.remembered[kept + i] = walk.frames[count - 1 - i];
    }
    const std::uint32_t depth = kept + count;
    std::uint32_t from = kept;  // frames from here on are numbered
    if (has_python() || thread.evaluations_count != 0) [[unlikely]] {
        from = unchanged_evaluations(thread, kept, !has_signal);
    }
    std::uint32_t number = from != 0 ? thread.remembered[from - 1].node : thread.root;
    if (from != depth) {
        const std::uint32_t addresses = list_addresses(thread, *tree, generation, from, depth);
        number = number_of_recent(thread, generation, number, addresses);
        for (std::uint32_t i = from; i < depth; ++i) {
            thread.remembered[i].node = walk.numbers[thread.remembered[i].node - 1];
        }
    }
    const bool is_cut_by_depth = is_cut && count == most_frames;            // it would be cut elsewhere next time
    const bool still_holds = epoch.load(std::memory_order_relaxed) == now;  // no handler has forked
    thread.depth = number == 0 || is_cut_by_depth || !still_holds ? 0 : depth;
    return number;
}

bool is_sampled(ThreadStacks& thread, std::uint64_t size, std::uint64_t& unsampled) noexcept
{
    if (!thread.sampler.has_begun()) [[unlikely]] {
        thread.sampler.begin(tick_clock().ticks() ^ reinterpret_cast<std::uint64_t>(&thread));
        unsampled = thread.sampler.draw_gap(sampled_every);
    }
    return thread.sampler.takes(size, sampled_every, unsampled);
}

std::uint32_t number_in(ThreadStacks& thread, const Registers& registers) noexcept
{
    // A handler that has left by longjmp never came back to what it had interrupted.
    const bool is_abandoned = thread.level != 0 && thread.own.holds(registers.stack) &&
                              thread.own.holds(thread.entered_at) && registers.stack > thread.entered_at;
    const std::uint32_t level = is_abandoned ? 0 : thread.level;
    if (level > 1) {
        tree->count_lost();
        return 0;
    }
    thread.level = level + 1;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::uint32_t number = 0;
    if (level == 1) {
        number = number_by_itself(thread, registers, thread.nested);
    } else {
        thread.entered_at = registers.stack;
        if (thread.own.high == 0) {
            thread.own = is_on_signal_stack() ? Bounds{} : thread_bounds(registers.stack, room_of(thread.walk));
        }
        number = thread.own.holds(registers.stack) ? number_by_memory(thread, registers)
                                                   : number_by_itself(thread, registers, thread.walk);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread.level = level;
    return number;
}

}  // namespace

void prepare_stacks(CallTree& kept, std::uint64_t every) noexcept
{
    sampled_every = every;
    if (!find_object(reinterpret_cast<std::uint64_t>(&prepare_stacks), us)) {
        return;
    }
    threads = static_cast<AllThreads*>(map_memory(sizeof(AllThreads)));
    rules = static_cast<std::atomic<std::uint64_t>*>(map_memory(sizeof(std::uint64_t) << place_bits));
    problem = -ENOMEM;
    if (rules != nullptr && threads != nullptr && prepare_python_stacks()) {
        tree = &kept;
    }
}

long begin_stacks(const char* recording_path, std::uint32_t process) noexcept
{
    epoch.fetch_add(1, std::memory_order_release);
    return tree == nullptr ? problem : tree->open(recording_path, process, sampled_every);
}

__attribute__((noinline)) std::uint32_t call_stack(std::uint32_t log, std::uint64_t size,
                                                   std::uint64_t& unsampled) noexcept
{
    if (tree == nullptr || !tree->is_open() || (sampled_every != 0 && !is_sampled((*threads)[log], size, unsampled))) {
        return 0;
    }
    const int error = errno;
    Registers registers;
    MEMSWEEP_OWN_REGISTERS(registers);
    const std::uint32_t number = number_in((*threads)[log], registers);
    errno = error;
    return number;
}

void forget_stack(std::uint32_t log) noexcept
{
    if (tree != nullptr) {
        ThreadStacks& thread = (*threads)[log];
        thread.level = 0;
        thread.depth = 0;
        thread.evaluations_count = 0;
        thread.own = {};
        thread.other = {};
        thread.sampler.end();
    }
}

std::uint32_t calling_module(std::uint64_t returns_to) noexcept
{
    const int error = errno;
    FoundObject object;
    CallTree* const modules = find_object(returns_to - 1, object) ? open_call_tree() : nullptr;
    if (modules == nullptr) {
        return 0;
    }
    const CallTree::NotedObject noted = modules->note_object(object);
    errno = error;
    if (noted.replaces && tree != nullptr) {
        forget_rules();
    }
    return noted.number;
}

FoundObject note_caller(std::uint64_t returns_to) noexcept
{
    FoundObject object;
    if (tree == nullptr || !tree->is_open() || !find_object(returns_to - 1, object)) {
        return {};
    }
    if (!tree->knows(object)) {
        static_cast<void>(calling_module(returns_to));
    }
    return object;
}

void note_unloading() noexcept
{
    CallTree* const modules = call_tree();
    if (modules != nullptr && modules->note_gone_objects() && tree != nullptr) {
        forget_rules();
    }
}

}  // namespace memsweep::trace::recorder
