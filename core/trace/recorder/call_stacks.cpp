#include "core/trace/recorder/call_stacks.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "core/trace/format/recording_layout.hpp"
#include "core/trace/recorder/call_tree.hpp"
#include "core/trace/recorder/found_object.hpp"
#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/recording_file.hpp"
#include "core/trace/recorder/unwind_rule.hpp"

namespace memsweep::trace::recorder {
namespace {

constexpr std::uint32_t most_frames = 256;
constexpr std::uint32_t most_nested_frames = 64;  // of a handler that interrupts this

struct Registers {
    std::uint64_t next{};   // the address behind the instruction that is executed: where a call returns to
    std::uint64_t stack{};  // pointer
    std::uint64_t frame{};  // pointer
};

struct Frame {
    Registers registers;
    std::uint64_t saved_at{};  // where the caller's frame pointer was read; 0: it is this one's
    std::uint32_t node{};
    bool is_remembered{};  // how it is left can be seen again by two words: its return address and that one
};

struct Bounds {
    std::uint64_t low{};
    std::uint64_t high{};
    [[nodiscard]] bool holds(std::uint64_t address) const noexcept { return address - low < high - low; }
    // Whether a word lies within.
    [[nodiscard]] bool holds_word(std::uint64_t address) const noexcept
    {
        return address >= low && address + sizeof(address) <= high && address % sizeof(address) == 0;
    }
};

template <std::uint32_t most>
struct Walk {
    std::array<Frame, most> frames;             // innermost first
    std::array<std::uint64_t, most> addresses;  // outermost first
    std::array<std::uint32_t, most> numbers;
};

// A node that the thread has looked up.
struct RecentNode {
    std::uint64_t address;
    std::uint32_t parent;
    std::uint32_t number;
};
constexpr unsigned recent_bits = 9;

// A forked child finds it as it was: it may return into code that was reading it.
struct ThreadStacks {
    std::uint32_t level;  // how often the thread is here
    std::uint32_t depth;  // frames remembered
    std::uint64_t entered_at;
    std::uint64_t epoch;
    std::uint64_t random;                       // 0: not begun
    std::int64_t until_sampled;                 // bytes
    Bounds own;                                 // the thread's stack
    Bounds other;                               // one that it was met on
    std::array<Frame, most_frames> remembered;  // outermost first
    Walk<most_frames> walk;
    Walk<most_nested_frames> nested;
    std::array<RecentNode, std::size_t{1} << recent_bits> recent;
};

using AllThreads = std::array<ThreadStacks, max_slots>;

// Which rule an address has: 48 bits of it, mixed reversibly, are its place and its mark.
constexpr unsigned place_bits = 16;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own them
CallTree* tree;  // a forked child finds it zeroed
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
    const long at =
        kernel(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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

enum class Step : std::uint8_t { made, made_otherwise, outermost, failed };

#if defined(__x86_64__)

// What the rules are made of names its objects.
void note_objects_of(const std::uint64_t* /*addresses*/, std::size_t /*count*/) noexcept {}

__attribute__((noinline)) UnwindRule new_rule(std::uint64_t next, std::uint64_t place, std::uint64_t mark) noexcept
{
    FoundObject object;
    if (!find_object(next - 1, object)) {
        return {RuleKind::by_frame_pointer};  // code that was made at run time: another may be there tomorrow
    }
    if (tree->note_object(object)) {
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
    return Step::made_otherwise;
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
        if (find_object(addresses[i] - 1, object) && tree->note_object(object)) {
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

// ---- where a stack ends ----

// One line of /proc/self/maps after the other, in the room given.
class Mappings {
  public:
    Mappings(char* room, std::size_t bytes) noexcept
        : room_{room}, bytes_{bytes}, fd_{kernel(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC)}
    {
    }
    Mappings(const Mappings&) = delete;
    Mappings& operator=(const Mappings&) = delete;
    ~Mappings()
    {
        if (fd_ >= 0) {
            kernel(SYS_close, fd_);
        }
    }

    bool next(Bounds& bounds, bool& is_main_stack) noexcept
    {
        const auto* end = static_cast<const char*>(std::memchr(room_ + at_, '\n', filled_ - at_));
        if (end == nullptr) {
            std::memmove(room_, room_ + at_, filled_ - at_);
            filled_ -= at_;
            at_ = 0;
            for (long got = 1; got > 0 && filled_ < bytes_ && end == nullptr;) {
                got = fd_ < 0 ? 0 : kernel(SYS_read, fd_, room_ + filled_, bytes_ - filled_);
                filled_ += got > 0 ? static_cast<std::size_t>(got) : 0;
                end = static_cast<const char*>(std::memchr(room_, '\n', filled_));
            }
            if (end == nullptr) {
                return false;
            }
        }
        const char* at = room_ + at_;
        bounds.low = take_hexadecimal(at);
        ++at;
        bounds.high = take_hexadecimal(at);
        constexpr std::size_t length = 7;
        is_main_stack =
            end - at > static_cast<std::ptrdiff_t>(length) && std::memcmp(end - length, "[stack]", length) == 0;
        at_ = static_cast<std::size_t>(end - room_) + 1;
        return true;
    }

  private:
    static std::uint64_t take_hexadecimal(const char*& at) noexcept
    {
        std::uint64_t number = 0;
        for (;; ++at) {
            const char digit = *at;
            if (digit >= '0' && digit <= '9') {
                number = number << 4U | static_cast<std::uint64_t>(digit - '0');
            } else if (digit >= 'a' && digit <= 'f') {
                number = number << 4U | static_cast<std::uint64_t>(digit - 'a' + 10);
            } else {
                return number;
            }
        }
    }

    char* room_;
    std::size_t bytes_;
    long fd_;
    std::size_t at_{};
    std::size_t filled_{};
};

// Empty: it lies in none that is known.
Bounds mapping_of(std::uint64_t address, char* room, std::size_t bytes) noexcept
{
    Mappings mappings{room, bytes};
    Bounds found;
    bool is_main_stack = false;
    while (mappings.next(found, is_main_stack)) {
        if (found.holds(address)) {
            if (is_main_stack) {  // it grows
                rlimit limit{};
                constexpr std::uint64_t most = 1ULL << 30U;
                const bool is_known = ::getrlimit(RLIMIT_STACK, &limit) == 0;
                found.low =
                    std::min(found.low, found.high - std::min<std::uint64_t>(is_known ? limit.rlim_cur : 0, most));
            }
            return found;
        }
    }
    return {};
}

bool is_mapped(std::uint64_t from, std::uint64_t to) noexcept
{
    std::array<unsigned char, 64> states{};
    constexpr std::uint64_t page = 4096;
    from = from / page * page;
    return to - from <= states.size() * page && kernel(SYS_mincore, from, to - from, states.data()) == 0;
}

// Above the frames of a thread lies what the C library keeps of it; what is mapped behind may be another's.
Bounds thread_bounds(std::uint64_t at, char* room, std::size_t bytes) noexcept
{
    Bounds bounds = mapping_of(at, room, bytes);
    const auto own_data = reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
    if (bounds.holds(own_data) && own_data > at) {
        bounds.high = own_data;
    }
    return bounds;
}

// A signal's, or a coroutine's. What is there is looked at each time: it may have gone meanwhile.
Bounds other_bounds(ThreadStacks& thread, std::uint64_t at, char* room, std::size_t bytes) noexcept
{
    stack_t signal_stack{};
    if (kernel(SYS_sigaltstack, nullptr, &signal_stack) == 0 && (signal_stack.ss_flags & SS_ONSTACK) != 0) {
        const auto low = reinterpret_cast<std::uint64_t>(signal_stack.ss_sp);
        const Bounds bounds{low, low + signal_stack.ss_size};
        if (bounds.holds(at)) {
            return bounds;
        }
    }
    if (!thread.other.holds(at)) {
        thread.other = mapping_of(at, room, bytes);
    }
    constexpr std::uint64_t most = std::uint64_t{60} * 4096;
    const Bounds bounds{at, std::min(thread.other.high, at + most)};
    return thread.other.holds(at) && is_mapped(at, bounds.high) ? bounds : Bounds{};
}

// ---- from frames to a number ----

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
                     Join join) noexcept
{
    std::uint32_t count = 0;
    bool has_changed_stack = false;
    is_cut = false;
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
    const Bounds bounds = thread.own.holds(registers.stack)
                              ? thread.own
                              : other_bounds(thread, registers.stack, reinterpret_cast<char*>(&walk), sizeof walk);
    const std::uint64_t generation = tree->generation();
    bool is_cut = false;
    const std::uint32_t count =
        follow(registers, bounds, thread.own, walk, is_cut, [](const Registers&, std::uint32_t) { return false; });
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
        thread.recent = {};
        thread.epoch = now;
    }
    Walk<most_frames>& walk = thread.walk;
    std::uint32_t kept = 0;  // remembered frames that are still there
    std::uint32_t at = thread.depth;
    bool is_cut = false;
    const std::uint32_t count =
        follow(registers, thread.own, thread.own, walk, is_cut, [&](const Registers& here, std::uint32_t so_far) {
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
    std::uint32_t number = kept != 0 ? thread.remembered[kept - 1].node : root(generation, is_cut);
    thread.depth = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    for (std::uint32_t i = 0; i < count; ++i) {
        const Frame& frame = walk.frames[count - 1 - i];
        walk.addresses[i] = frame.registers.next;
        thread.remembered[kept + i] = frame;
    }
    if (count != 0) {
        number = number_of_recent(thread, generation, number, count);
        for (std::uint32_t i = 0; i < count; ++i) {
            thread.remembered[kept + i].node = walk.numbers[i];
        }
    }
    const bool is_cut_by_depth = is_cut && count == most_frames;            // it would be cut elsewhere next time
    const bool still_holds = epoch.load(std::memory_order_relaxed) == now;  // no handler has forked
    thread.depth = number == 0 || is_cut_by_depth || !still_holds ? 0 : kept + count;
    return number;
}

// The natural logarithm of numbers from 1 on.
double logarithm(std::uint64_t number) noexcept
{
    constexpr double of_2 = 0.693147180559945309;
    const auto whole = static_cast<unsigned>(std::bit_width(number)) - 1U;
    const double rest = static_cast<double>(number) / static_cast<double>(std::uint64_t{1} << whole);  // below 2
    const double ratio = (rest - 1) / (rest + 1);
    const double square = ratio * ratio;
    const double series =
        1 + square * (1.0 / 3 + square * (1.0 / 5 + square * (1.0 / 7 + square * (1.0 / 9 + square / 11))));
    return whole * of_2 + 2 * ratio * series;
}

std::uint64_t next_random(std::uint64_t& state) noexcept  // splitmix64
{
    std::uint64_t mixed = state += 0x9E3779B97F4A7C15U;
    mixed = (mixed ^ mixed >> 30U) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ mixed >> 27U) * 0x94D049BB133111EBU;
    return mixed ^ mixed >> 31U;
}

// Exponentially distributed: how far it is to the next sample does not depend on where the last one was.
std::int64_t draw_gap(ThreadStacks& thread) noexcept
{
    constexpr unsigned bits = 52;
    const std::uint64_t drawn = (next_random(thread.random) >> (64U - bits)) + 1;
    const double gap = (logarithm(std::uint64_t{1} << bits) - logarithm(drawn)) * static_cast<double>(sampled_every);
    return static_cast<std::int64_t>(gap) + 1;
}

bool is_sampled(ThreadStacks& thread, std::uint64_t size) noexcept
{
    if (thread.random == 0) [[unlikely]] {
        thread.random = tick_clock().ticks() ^ reinterpret_cast<std::uint64_t>(&thread);
        thread.until_sampled = draw_gap(thread);
    }
    constexpr std::uint64_t most = std::uint64_t{1} << 62U;
    thread.until_sampled -= static_cast<std::int64_t>(std::clamp<std::uint64_t>(size, 1, most));
    if (thread.until_sampled > 0) [[likely]] {
        return false;
    }
    thread.until_sampled = draw_gap(thread);
    return true;
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
            stack_t signal_stack{};
            const bool is_signals =
                kernel(SYS_sigaltstack, nullptr, &signal_stack) == 0 && (signal_stack.ss_flags & SS_ONSTACK) != 0;
            thread.own =
                is_signals ? Bounds{}
                           : thread_bounds(registers.stack, reinterpret_cast<char*>(&thread.walk), sizeof thread.walk);
        }
        number = thread.own.holds(registers.stack) ? number_by_memory(thread, registers)
                                                   : number_by_itself(thread, registers, thread.walk);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread.level = level;
    return number;
}

}  // namespace

void prepare_stacks(std::uint64_t every) noexcept
{
    sampled_every = every;
    prepare_finding_objects();
    if (!find_object(reinterpret_cast<std::uint64_t>(&prepare_stacks), us)) {
        return;
    }
    void* const memory = map_memory(sizeof(CallTree));
    threads = static_cast<AllThreads*>(map_memory(sizeof(AllThreads)));
    rules = static_cast<std::atomic<std::uint64_t>*>(map_memory(sizeof(std::uint64_t) << place_bits));
    problem = -ENOMEM;
    if (memory != nullptr && rules != nullptr && threads != nullptr &&
        kernel(SYS_madvise, memory, sizeof(CallTree), MADV_WIPEONFORK) == 0) {
        tree = static_cast<CallTree*>(memory);
    }
}

long begin_stacks(const char* recording_path, std::uint32_t process) noexcept
{
    epoch.fetch_add(1, std::memory_order_release);
    return tree == nullptr ? problem : tree->open(recording_path, process, sampled_every);
}

__attribute__((noinline)) std::uint32_t call_stack(std::uint32_t log, std::uint64_t size) noexcept
{
    if (tree == nullptr || !tree->is_open() || (sampled_every != 0 && !is_sampled((*threads)[log], size))) {
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
        thread.own = {};
        thread.other = {};
        thread.random = 0;
    }
}

void note_unloading() noexcept
{
    if (tree != nullptr && tree->is_open() && tree->note_gone_objects()) {
        forget_rules();
    }
}

}  // namespace memsweep::trace::recorder
