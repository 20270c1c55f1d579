#include "core/trace/recorder/python_calls.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>

#include <link.h>
#include <pthread.h>

#include "core/trace/recorder/loaded_object.hpp"
#include "core/trace/recorder/location_table.hpp"

namespace memsweep::trace::recorder {
namespace {

constexpr std::uint32_t most_steps = 2048;  // through frames that are not kept, to the loop that they are of
constexpr std::uint8_t owned_by_generator = 1;
constexpr std::uint8_t owned_by_c_stack = 3;

// Where things are, in bytes. 0: there is none.
struct Layout {
    std::uint32_t minor;
    // PyThreadState
    std::uint32_t c_frame;        // of the innermost loop: _PyCFrame
    std::uint32_t current_frame;  // of the _PyCFrame, or where there is none of the PyThreadState
    std::uint32_t outer_c_frame;
    std::uint32_t thread_id;
    // _PyInterpreterFrame
    std::uint32_t previous;
    std::uint32_t owner;
    std::uint32_t is_entry;  // 0: the outermost frame of a loop is one that the C stack owns
    std::uint32_t code;
    std::uint32_t instruction;
    // PyCodeObject
    std::uint32_t first_line;
    std::uint32_t first_traceable;
    std::uint32_t units;
    // PyASCIIObject and PyCompactUnicodeObject
    std::uint32_t ascii_data;
    std::uint32_t compact_data;
};

constexpr std::array<Layout, 3> layouts{{{.minor = 11,
                                          .c_frame = 56,
                                          .current_frame = 8,
                                          .outer_c_frame = 16,
                                          .thread_id = 152,
                                          .previous = 48,
                                          .owner = 69,
                                          .is_entry = 68,
                                          .code = 32,
                                          .instruction = 56,
                                          .first_line = 72,
                                          .first_traceable = 168,
                                          .units = 184,
                                          .ascii_data = 48,
                                          .compact_data = 72},
                                         {.minor = 12,
                                          .c_frame = 56,
                                          .current_frame = 0,
                                          .outer_c_frame = 8,
                                          .thread_id = 136,
                                          .previous = 8,
                                          .owner = 70,
                                          .is_entry = 0,
                                          .code = 0,
                                          .instruction = 56,
                                          .first_line = 68,
                                          .first_traceable = 176,
                                          .units = 192,
                                          .ascii_data = 40,
                                          .compact_data = 56},
                                         {.minor = 13,
                                          .c_frame = 0,
                                          .current_frame = 72,
                                          .outer_c_frame = 0,
                                          .thread_id = 152,
                                          .previous = 8,
                                          .owner = 70,
                                          .is_entry = 0,
                                          .code = 0,
                                          .instruction = 56,
                                          .first_line = 68,
                                          .first_traceable = 184,
                                          .units = 200,
                                          .ascii_data = 40,
                                          .compact_data = 56}}};

// The same in all of them.
constexpr std::uint32_t type_at = 8;
constexpr std::uint32_t size_at = 16;  // of bytes and texts, in theirs
constexpr std::uint32_t hash_at = 24;  // of bytes and texts; -1: not known
constexpr std::uint32_t file_at = 112;
constexpr std::uint32_t function_at = 128;
constexpr std::uint32_t lines_at = 136;
constexpr std::uint32_t text_state_at = 32;
constexpr std::uint32_t bytes_at = 32;

struct Interpreter {
    std::atomic<bool> is_taken;
    std::uint64_t begin;  // of its object
    const Layout* layout;
    std::uint32_t version;
    int (*is_initialized)();
    std::uint64_t (*state_of_thread)();  // also while it does not hold the GIL
    std::uint64_t (*current_state)();    // of whoever holds the GIL; from 3.12 on of this thread, where it does
    std::uint64_t code_type;
    std::uint64_t text_type;
    std::uint64_t bytes_type;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own them
constinit Interpreter interpreter{};
constinit std::atomic<bool> is_readable{};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

template <typename Value>
Value value_at(std::uint64_t address) noexcept
{
    Value value{};
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);  // NOLINT(performance-no-int-to-ptr)
    return value;
}

std::uint64_t field(std::uint64_t address) noexcept
{
    return value_at<std::uint64_t>(address);
}

LoadedObject as_loaded(const FoundObject& object) noexcept
{
    const auto header = value_at<ElfW(Ehdr)>(object.begin);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)) ||
        header.e_phoff + header.e_phnum * sizeof(ElfW(Phdr)) > 4096) {
        return {};
    }
    dl_phdr_info info{};
    info.dlpi_addr = object.bias;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): in a mapping
    info.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(object.begin + header.e_phoff);
    info.dlpi_phnum = header.e_phnum;
    return LoadedObject{info};
}

template <typename Function>
bool find_function(const LoadedObject& object, const char* name, Function& function) noexcept
{
    void* const found = object.definition(name);
    std::memcpy(&function, &found, sizeof function);
    return found != nullptr;
}

std::uint64_t address_of(const LoadedObject& object, const char* name) noexcept
{
    return reinterpret_cast<std::uint64_t>(object.definition(name));
}

// Objects that are laid out otherwise (without a GIL, with references traced) have their type elsewhere.
bool find_means(const LoadedObject& object) noexcept
{
    const std::uint64_t type = address_of(object, "PyType_Type");
    interpreter.code_type = address_of(object, "PyCode_Type");
    interpreter.text_type = address_of(object, "PyUnicode_Type");
    interpreter.bytes_type = address_of(object, "PyBytes_Type");
    return type != 0 && interpreter.code_type != 0 && interpreter.text_type != 0 && interpreter.bytes_type != 0 &&
           field(type + type_at) == type && find_function(object, "Py_IsInitialized", interpreter.is_initialized) &&
           find_function(object, "PyGILState_GetThisThreadState", interpreter.state_of_thread) &&
           (find_function(object, "_PyThreadState_UncheckedGet", interpreter.current_state) ||
            find_function(object, "PyThreadState_GetUnchecked", interpreter.current_state));
}

const Layout* layout_of(std::uint32_t version) noexcept
{
    for (const Layout& layout : layouts) {
        if (version >> 24U == 3 && (version >> 16U & 0xFFU) == layout.minor) {
            return &layout;
        }
    }
    return nullptr;
}

// 0: the thread is none of Python's, or it is no time to look: before and after, the means themselves do not hold.
std::uint64_t own_state() noexcept
{
    if (interpreter.is_initialized() == 0) {
        return 0;
    }
    std::uint64_t state = interpreter.state_of_thread();
    if (state == 0) {
        return 0;
    }
    // What 3.11 has is that of whoever holds the GIL, which may go at any time.
    constexpr std::uint32_t first_with_own = 12;
    if (interpreter.layout->minor >= first_with_own) {
        const std::uint64_t current = interpreter.current_state();  // of another interpreter in the process, perhaps
        state = current != 0 ? current : state;
    }
    return field(state + interpreter.layout->thread_id) == static_cast<std::uint64_t>(::pthread_self()) ? state : 0;
}

bool is_alive(std::uint64_t object, std::uint64_t type) noexcept
{
    return object != 0 && field(object + type_at) == type && value_at<std::int64_t>(object) > 0;
}

constexpr std::array<std::uint64_t, 9> odd_numbers = [] {
    std::array<std::uint64_t, 9> numbers{};
    std::uint64_t state = 1;
    for (std::uint64_t& number : numbers) {
        state = (state ^ state >> 31U) * 0xBF58476D1CE4E5B9U + 0x9E3779B97F4A7C15U;
        number = (state ^ state >> 29U) | 1U;
    }
    return numbers;
}();

// What bytes or a text say: their hash, which the interpreter has of most, or else where they are and three words of
// them.
__attribute__((always_inline)) inline std::uint64_t content_of(std::uint64_t object, std::uint32_t data) noexcept
{
    const std::uint64_t hash = field(object + hash_at);
    if (hash != ~0ULL) {
        return hash;
    }
    const std::uint64_t size = field(object + size_at);
    const std::uint64_t from = object + data;
    if (size < sizeof hash) {
        return object + size + (field(from) << 8U * (sizeof hash - 1 - size)) * odd_numbers[0];  // a zero is behind
    }
    return object + size + field(from) * odd_numbers[1] + field(from + (size - sizeof hash) / 2) * odd_numbers[2] +
           field(from + size - sizeof hash) * odd_numbers[3];
}

enum class Taken : std::uint8_t { kept, passed_over, full, unreadable };

template <Layout at>
__attribute__((always_inline)) inline Taken take_call(std::uint64_t frame, PythonCalls& calls) noexcept
{
    const std::uint64_t code = field(frame + at.code);
    if (!is_alive(code, interpreter.code_type)) {
        return Taken::unreadable;
    }
    const auto bytes = static_cast<std::int64_t>(field(frame + at.instruction) - code - at.units);
    const auto unit = static_cast<std::int32_t>(bytes >> 1U);
    const std::uint64_t file = field(code + file_at);
    const std::uint64_t function = field(code + function_at);
    const std::uint64_t lines = field(code + lines_at);
    const bool has_begun = unit >= value_at<std::int32_t>(code + at.first_traceable) ||
                           value_at<std::uint8_t>(frame + at.owner) == owned_by_generator;
    if (!has_begun || file == 0 || function == 0 || lines == 0) {
        return Taken::passed_over;
    }
    if (calls.calls_count == calls.calls.size()) {
        return Taken::full;
    }
    // None of the products waits for another.
    const std::uint64_t key = static_cast<std::uint32_t>(unit) * odd_numbers[4] +
                              value_at<std::uint32_t>(code + at.first_line) * odd_numbers[5] +
                              content_of(file, at.ascii_data) * odd_numbers[6] +
                              content_of(function, at.ascii_data) * odd_numbers[7] +
                              content_of(lines, bytes_at) * odd_numbers[8];
    calls.calls[calls.calls_count++] = {code, key ^ key >> 32U, unit};
    return Taken::kept;
}

// From one frame of the interpreter to the one that called it.
template <Layout at>
class FrameWalk {
  public:
    explicit FrameWalk(std::uint64_t state) noexcept
    {
        c_frame_ = at.c_frame == 0 ? 0 : field(state + at.c_frame);
        frame_ = at.c_frame == 0 ? field(state + at.current_frame)
                                 : (c_frame_ == 0 ? 0 : field(c_frame_ + at.current_frame));
    }

    // Of one loop, and where it is. False: there is no more, or none that can be told.
    bool next(PythonCalls& calls, Evaluation& evaluation) noexcept
    {
        evaluation = {.marker = c_frame_, .first = calls.calls_count};
        bool is_over = false;
        while (!is_over) {
            if (frame_ == 0 || ++steps_ > most_steps) {
                return false;
            }
            const bool is_entry = at.is_entry != 0 && value_at<std::uint8_t>(frame_ + at.is_entry) != 0;
            const bool is_loops_own = at.is_entry == 0 && value_at<std::uint8_t>(frame_ + at.owner) == owned_by_c_stack;
            const Taken taken = is_loops_own ? Taken::passed_over : take_call<at>(frame_, calls);
            if (taken == Taken::unreadable) {
                return false;
            }
            evaluation.is_cut = evaluation.is_cut || taken == Taken::full;
            is_over = is_entry || is_loops_own || (taken == Taken::full && c_frame_ != 0);
            evaluation.marker = c_frame_ == 0 ? frame_ : c_frame_;
            frame_ = field(frame_ + at.previous);
        }
        c_frame_ = c_frame_ == 0 ? 0 : field(c_frame_ + at.outer_c_frame);
        frame_ = evaluation.is_cut || (at.c_frame != 0 && c_frame_ == 0) ? 0 : frame_;
        evaluation.behind = calls.calls_count;
        for (std::uint32_t i = evaluation.first; i < evaluation.behind; ++i) {
            evaluation.key = (evaluation.key + calls.calls[i].key) * odd_numbers[0];
        }
        return true;
    }

  private:
    std::uint64_t c_frame_{};
    std::uint64_t frame_{};
    std::uint32_t steps_{};
};

// Into evaluations, from the innermost on.
template <Layout at>
void walk(std::uint64_t state, PythonCalls& calls) noexcept
{
    FrameWalk<at> frames{state};
    while (calls.evaluations_count < calls.evaluations.size() &&
           frames.next(calls, calls.evaluations[calls.evaluations_count])) {
        ++calls.evaluations_count;
    }
}

// Writes UTF-8 as far as there is room for whole characters.
class TextRoom {
  public:
    explicit TextRoom(std::span<char> room) noexcept : room_{room} {}
    void add(std::uint32_t character) noexcept
    {
        const bool is_character = character < 0xD800 || (character > 0xDFFF && character <= 0x10FFFF);
        character = is_character ? character : 0xFFFD;  // a byte of a file's name that is no UTF-8
        const unsigned more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
        if (is_full_ || room_.size() - used_ < more + 1) {
            is_full_ = true;
            return;
        }
        constexpr std::array<unsigned, 4> heads{0, 0xC0, 0xE0, 0xF0};
        put(heads[more] | character >> 6U * more);
        for (unsigned left = more; left-- != 0;) {
            put(0x80U | (character >> 6U * left & 0x3FU));
        }
    }
    [[nodiscard]] std::string_view text() const noexcept { return {room_.data(), used_}; }

  private:
    void put(std::uint32_t byte) noexcept { room_[used_++] = static_cast<char>(byte); }

    std::span<char> room_;
    std::size_t used_{};
    bool is_full_{};
};

// Empty: it is no text that can be read.
std::string_view text_of(std::uint64_t object, std::span<char> room) noexcept
{
    if (!is_alive(object, interpreter.text_type)) {
        return {};
    }
    const auto state = value_at<std::uint32_t>(object + text_state_at);
    const std::uint32_t width = state >> 2U & 7U;
    const bool is_compact = (state >> 5U & 1U) != 0;
    const bool is_ascii = (state >> 6U & 1U) != 0;
    if (!is_compact || (width != 1 && width != 2 && width != 4)) {
        return {};
    }
    TextRoom text{room};
    const std::uint64_t data = object + (is_ascii ? interpreter.layout->ascii_data : interpreter.layout->compact_data);
    const std::uint64_t length = field(object + size_at);
    for (std::uint64_t i = 0; i < length && i < room.size(); ++i) {
        const std::uint64_t at = data + i * width;
        text.add(width == 1   ? value_at<std::uint8_t>(at)
                 : width == 2 ? value_at<std::uint16_t>(at)
                              : value_at<std::uint32_t>(at));
    }
    return text.text();
}

}  // namespace

bool note_python(const FoundObject& object) noexcept
{
    const LoadedObject loaded = as_loaded(object);
    const auto version = reinterpret_cast<std::uint64_t>(loaded.definition("Py_Version"));
    if (version == 0 || !loaded.defines("_PyRuntime") || interpreter.is_taken.exchange(true)) {
        return false;
    }
    interpreter.begin = object.begin;
    interpreter.version = value_at<std::uint32_t>(version);
    interpreter.layout = layout_of(interpreter.version);
    is_readable.store(interpreter.layout != nullptr && find_means(loaded), std::memory_order_release);
    return true;
}

void forget_python(std::uint64_t begin) noexcept
{
    if (interpreter.is_taken.load(std::memory_order_acquire) && interpreter.begin == begin) {
        is_readable.store(false, std::memory_order_release);
        interpreter.version = 0;
        interpreter.is_taken.store(false, std::memory_order_release);
    }
}

PythonVersion python_version() noexcept
{
    return {interpreter.version, has_python()};
}

bool has_python() noexcept
{
    return is_readable.load(std::memory_order_acquire);
}

void walk_python(PythonCalls& calls) noexcept
{
    calls.evaluations_count = 0;
    calls.calls_count = 0;
    const std::uint64_t state = own_state();
    if (state == 0) {
        return;
    }
    switch (interpreter.layout->minor) {
    case layouts[0].minor:
        return walk<layouts[0]>(state, calls);
    case layouts[1].minor:
        return walk<layouts[1]>(state, calls);
    case layouts[2].minor:
        return walk<layouts[2]>(state, calls);
    default:
        return;
    }
}

bool line_of(const PythonCall& call, std::span<char> room, PythonLine& line) noexcept
{
    if (!is_alive(call.code, interpreter.code_type)) {
        return false;
    }
    const std::size_t half = room.size() / 2;
    line.function = text_of(field(call.code + function_at), room.first(half));
    line.file = text_of(field(call.code + file_at), room.subspan(half));
    const std::uint64_t table = field(call.code + lines_at);
    if (line.function.empty() || !is_alive(table, interpreter.bytes_type)) {
        return false;
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): what the object has behind its head
    const std::span bytes{reinterpret_cast<const std::uint8_t*>(table + bytes_at), field(table + size_at)};
    line.line = line_in_table(bytes, value_at<std::int32_t>(call.code + interpreter.layout->first_line), call.unit);
    return true;
}

}  // namespace memsweep::trace::recorder
