#include "core/trace/recorder/call_tree.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "core/trace/format/stack_layout.hpp"
#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/recording_file.hpp"
#include "core/trace/recorder/signals_blocked.hpp"

namespace memsweep::trace::recorder {
namespace {

constexpr std::uint64_t first_places = 4096;
constexpr std::uint32_t first_room = (64U << 10U) / sizeof(StackNode);
constexpr std::uint32_t largest_step = (1U << 20U) / sizeof(StackNode);
constexpr std::size_t modules_a_page = 4096 / sizeof(RecordedModule);
constexpr std::uint32_t line_step = 64U << 10U;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own them
constinit KeptFile tree_file;
// Where objects begin that stacks have met: a forked child notes them again.
std::array<std::uint64_t, max_recorded_modules> known_objects;
constinit std::uint32_t known_count{};
constinit std::uint64_t generations{};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void* pointer(std::uint64_t address) noexcept
{
    return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): in a mapping
}

void copy_path(const char* path, RecordedModule& module) noexcept
{
    std::array<char, max_path_bytes> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where it is used
    std::size_t length = 0;
    if (path == nullptr || *path == '\0') {
        length = std::strlen(own_program());
        std::memcpy(room.data(), own_program(), length);
    } else {
        if (*path != '/' && std::strchr(path, '/') != nullptr) {
            const long got = kernel(SYS_getcwd, room.data(), room.size());  // with the zero behind
            length = got > 1 && static_cast<std::size_t>(got) < room.size() ? static_cast<std::size_t>(got) : 0;
            room[length != 0 ? length - 1 : 0] = '/';
        }
        const std::size_t more = std::min(std::strlen(path), room.size() - length);
        std::memcpy(room.data() + length, path, more);
        length += more;
    }
    const std::size_t kept = std::min(length, sizeof module.path);
    std::memcpy(module.path, room.data() + (length - kept), kept);
    module.path_bytes = static_cast<std::uint32_t>(kept);
}

void read_notes(const std::uint8_t* at, std::size_t bytes, RecordedModule& module) noexcept
{
    constexpr std::size_t step = 4;
    const auto whole = [](std::size_t size) { return (size + step - 1) / step * step; };
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note{};
        std::memcpy(&note, at, sizeof note);
        const std::size_t all = sizeof note + whole(note.n_namesz) + whole(note.n_descsz);
        if (all > bytes) {
            return;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at + sizeof note, "GNU", 4) == 0) {
            module.build_id_bytes = std::min<std::uint32_t>(note.n_descsz, sizeof module.build_id);
            std::memcpy(module.build_id, at + sizeof note + 4, module.build_id_bytes);
            return;
        }
        at += all;
        bytes -= all;
    }
}

// Reads the object's own headers, which lie at its beginning.
void describe(const FoundObject& object, RecordedModule& module) noexcept
{
    module.begin = object.begin;
    module.end = object.end;
    module.bias = object.bias;
    ElfW(Ehdr) header{};
    std::memcpy(&header, pointer(object.begin), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)) ||
        header.e_phoff + header.e_phnum * sizeof(ElfW(Phdr)) > 4096) {
        return;
    }
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) part{};
        std::memcpy(&part, pointer(object.begin + header.e_phoff + i * sizeof part), sizeof part);
        const std::uint64_t from = object.bias + part.p_vaddr;
        if (part.p_type == PT_NOTE && module.build_id_bytes == 0 && object.contains(from) &&
            part.p_memsz <= object.end - from) {
            read_notes(static_cast<const std::uint8_t*>(pointer(from)), part.p_memsz, module);
        }
    }
}

constexpr unsigned number_bits = 11;  // of a module, in the place of the lowest ones of its object's mark
static_assert(max_recorded_modules < 1U << number_bits);

std::uint64_t mark_of(const FoundObject& object) noexcept
{
    std::uint64_t mark = 0;
    for (const std::uint64_t part : {object.begin, object.end, reinterpret_cast<std::uint64_t>(object.frame_header),
                                     reinterpret_cast<std::uint64_t>(object.path)}) {
        mark = (mark ^ part) * 0x9E3779B97F4A7C15U;
        mark ^= mark >> 32U;
    }
    return (mark | 1U << number_bits) >> number_bits << number_bits;  // never zero
}

bool are_same(const RecordedModule& one, const RecordedModule& other) noexcept
{
    return one.begin == other.begin && one.end == other.end && one.build_id_bytes == other.build_id_bytes &&
           one.path_bytes == other.path_bytes && std::memcmp(one.build_id, other.build_id, sizeof one.build_id) == 0 &&
           std::memcmp(one.path, other.path, sizeof one.path) == 0;
}

}  // namespace

void CallTree::acquire() noexcept
{
    while (lock_.exchange(1, std::memory_order_acquire) != 0) {
        kernel(SYS_sched_yield);
    }
}

CallTree::Index* CallTree::new_index(std::uint64_t places) const noexcept
{
    const std::uint64_t bytes = sizeof(Index) + places * sizeof(std::uint32_t);
    const long at = map_own_memory(bytes);
    if (at < 0) {
        return nullptr;
    }
    auto* const index = static_cast<Index*>(pointer(static_cast<std::uint64_t>(at)));
    index->mask = places - 1;
    index->nodes = nodes_;
    return index;
}

void CallTree::put(Index& index, const StackNode& node, std::uint32_t number) noexcept
{
    std::uint64_t at = place_of(node.parent, node.address);
    while (index.numbers[at & index.mask] != 0) {
        ++at;
    }
    std::atomic_ref{index.numbers[at & index.mask]}.store(number, std::memory_order_release);
}

long CallTree::map(std::uint32_t most_nodes) noexcept
{
    long problem = 0;
    for (std::uint32_t nodes = most_nodes; nodes >= std::min(most_nodes, fewest_stack_nodes); nodes /= 4) {
        const std::uint64_t bytes = stack_file_bytes(nodes) + (most_nodes == 0 ? 0 : lines_room);
        problem = tree_file.set_size(bytes);
        if (problem < 0) {
            continue;
        }
        const long at = kernel(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, tree_file.usable_fd(), 0);
        if (at >= 0) {
            kernel(SYS_madvise, at, bytes, MADV_RANDOM);  // as RecordingFile has it
            const auto base = static_cast<std::uint64_t>(at);
            modules_ = static_cast<RecordedModule*>(pointer(base + modules_offset));
            nodes_ = static_cast<StackNode*>(pointer(base + nodes_offset));
            lines_offset_ = stack_file_bytes(nodes);
            lines_ = static_cast<std::uint8_t*>(pointer(base + lines_offset_));
            header_ = static_cast<StackFileHeader*>(pointer(base));
            header_->node_room = nodes;
            return 0;
        }
        problem = at;
        if (nodes == 0) {
            break;
        }
    }
    return problem;
}

long CallTree::open(const char* recording_path, std::uint32_t process, std::uint64_t sampled_every) noexcept
{
    tree_file.close();
    const std::size_t stem = std::strlen(recording_path) - std::strlen(".mst");
    if (stem + std::strlen(stacks_ending) >= max_path_bytes) {
        return -ENAMETOOLONG;
    }
    std::memcpy(tree_file.path().data(), recording_path, stem);
    std::memcpy(tree_file.path().data() + stem, stacks_ending, std::strlen(stacks_ending) + 1);
    long problem = tree_file.create();
    if (problem != 0) {
        return problem;
    }
    const bool has_nodes = sampled_every != modules_alone;
    problem = tree_file.reserve(0, modules_offset);
    problem = problem == 0 && has_nodes ? tree_file.reserve(nodes_offset, first_room * sizeof(StackNode)) : problem;
    problem = problem == 0 ? map(has_nodes ? max_stack_nodes : 0) : problem;
    Index* const index = problem == 0 && has_nodes ? new_index(first_places) : nullptr;
    if (problem != 0 || (has_nodes && index == nullptr)) {
        header_ = nullptr;
        tree_file.remove();
        return problem == 0 ? -ENOMEM : problem;
    }
    room_ = has_nodes ? first_room : 0;
    first_ = 1;
    generation_.store(++generations, std::memory_order_relaxed);
    index_.store(index, std::memory_order_release);
    header_->process = process;
    header_->sampled_every = sampled_every;
    header_->nodes = 1;
    note_version();
    std::atomic_signal_fence(std::memory_order_release);
    header_->magic = stacks_magic;
    for (std::uint32_t i = 0; i < known_count; ++i) {
        if (FoundObject object; find_object(known_objects[i], object) && object.begin == known_objects[i]) {
            static_cast<void>(note_object(object));
        }
    }
    return 0;
}

bool CallTree::have_room() noexcept
{
    const std::uint32_t number = header_->nodes;
    if (number < room_) {
        return true;
    }
    if (problem_ == 0 && room_ == header_->node_room) {
        problem_ = ENOSPC;
        return false;
    }
    if (problem_ != 0) {
        return false;
    }
    const std::uint32_t step = std::min({room_, largest_step, header_->node_room - room_});
    const long problem = tree_file.reserve(stack_file_bytes(room_), step * sizeof(StackNode));
    if (problem != 0) {
        problem_ = static_cast<std::uint32_t>(-problem);
        header_->lost_errno = problem_;
        return false;
    }
    room_ += step;
    return true;
}

// The old index stays for those who are looking through it. All old ones together are smaller than the new one.
bool CallTree::grow_index() noexcept
{
    const Index* const old = index_.load(std::memory_order_relaxed);
    if (2 * std::uint64_t{indexed_} < old->mask) {
        return true;
    }
    Index* const larger = new_index(2 * (old->mask + 1));
    if (larger == nullptr) {
        return 8 * std::uint64_t{indexed_} < 7 * old->mask;
    }
    for (std::uint32_t number = first_; number < header_->nodes; ++number) {
        put(*larger, nodes_[number], number);
    }
    index_.store(larger, std::memory_order_release);
    return true;
}

std::uint32_t CallTree::add_one(std::uint32_t parent, std::uint64_t address) noexcept
{
    if (const std::uint32_t number = find(parent, address); number != 0) {
        return number;  // another thread has added it meanwhile
    }
    if (!have_room() || !grow_index()) {
        return 0;
    }
    const std::uint32_t number = header_->nodes;
    nodes_[number] = {.address = address, .parent = parent};
    std::atomic_ref{header_->nodes}.store(number + 1, std::memory_order_release);
    put(*index_.load(std::memory_order_relaxed), nodes_[number], number);
    ++indexed_;
    return number;
}

bool CallTree::add(std::uint64_t generation, std::uint32_t parent, std::span<const std::uint64_t> addresses,
                   std::span<std::uint32_t> numbers) noexcept
{
    const SignalsBlocked blocked;
    acquire();
    const bool is_ours = generation != 0 && generation == this->generation();
    bool is_whole = is_ours;
    for (std::size_t i = 0; i < addresses.size() && is_whole; ++i) {
        parent = add_one(parent, addresses[i]);
        numbers[i] = parent;
        is_whole = parent != 0;
    }
    release();
    if (is_ours && !is_whole) {
        count_lost();
    }
    return is_whole;
}

void CallTree::count_lost() noexcept
{
    if (StackFileHeader* const header = header_; header != nullptr) {
        std::atomic_ref{header->lost_stacks}.fetch_add(1, std::memory_order_relaxed);
    }
}

void CallTree::note_version() noexcept
{
    const PythonVersion version = python_version();
    if (header_->python == 0) {
        header_->python = version.number;
        header_->reads_python = version.is_known ? 1 : 0;
    }
}

// 0: there is no room.
std::uint32_t CallTree::add_line(const PythonLine& line) noexcept
{
    const RecordedLine head{.line = line.line,
                            .function_bytes = static_cast<std::uint16_t>(line.function.size()),
                            .file_bytes = static_cast<std::uint16_t>(line.file.size())};
    const std::uint32_t at = header_->line_bytes;
    const std::uint32_t behind = at + head.bytes();
    if (header_->lines == most_recorded_lines || behind > lines_room) {
        return 0;
    }
    while (behind > line_bytes_room_) {
        if (tree_file.reserve(lines_offset_ + line_bytes_room_, line_step) != 0) {
            return 0;
        }
        line_bytes_room_ += line_step;
    }
    std::memcpy(lines_ + at, &head, sizeof head);
    std::memcpy(lines_ + at + sizeof head, line.function.data(), head.function_bytes);
    std::memcpy(lines_ + at + sizeof head + head.function_bytes, line.file.data(), head.file_bytes);
    header_->line_bytes = behind;
    const std::uint32_t number = header_->lines + 1;
    std::atomic_ref{header_->lines}.store(number, std::memory_order_release);
    return number;
}

std::uint64_t CallTree::address_of_line(std::uint64_t generation, const PythonLine& line) noexcept
{
    std::uint64_t content = line.line;
    for (const std::string_view text : {line.function, line.file}) {
        content = (content ^ text.size()) * 0x9E3779B97F4A7C15U;
        for (const char byte : text) {
            content = (content ^ content >> 32U ^ static_cast<unsigned char>(byte)) * 0xC2B2AE3D27D4EB4FU;
        }
    }
    content ^= content >> 29U;
    const SignalsBlocked blocked;
    acquire();
    std::uint64_t number = 0;
    if (generation != 0 && generation == this->generation()) {
        std::size_t at = content % line_index_.size();
        while (line_index_[at].number != 0 && line_index_[at].content != content) {
            at = (at + 1) % line_index_.size();
        }
        number = line_index_[at].number != 0 ? line_index_[at].number : add_line(line);
        line_index_[at] = {content, number};
    }
    release();
    return number == 0 ? 0 : first_interpreted + number - 1;
}

// The same address means something else now. Without memory for it, old nodes go on to be found.
void CallTree::begin_anew() noexcept
{
    if (index_.load(std::memory_order_relaxed) == nullptr) {
        return;
    }
    if (Index* const index = new_index(first_places)) {
        first_ = header_->nodes;
        indexed_ = 0;
        index_.store(index, std::memory_order_release);
    }
}

bool CallTree::knows(const FoundObject& object) const noexcept
{
    const StackFileHeader* const header = header_;
    if (header == nullptr) {
        return false;
    }
    const std::span<const RecordedModule> noted{modules_, header->modules};
    return std::ranges::any_of(noted, [&](const RecordedModule& module) {
        return module.begin == object.begin && module.end == object.end && module.gone_ticks == 0;
    });
}

CallTree::NotedObject CallTree::note_object(const FoundObject& object) noexcept
{
    const std::uint64_t mark = mark_of(object);
    std::atomic<std::uint64_t>& noted = noted_[(mark >> number_bits) % noted_.size()];
    if (const std::uint64_t same = noted.load(std::memory_order_relaxed) ^ mark; same >> number_bits == 0) {
        return {static_cast<std::uint32_t>(same)};
    }
    const SignalsBlocked blocked;
    RecordedModule module{};
    describe(object, module);
    copy_path(object.path, module);
    acquire();
    if (header_ == nullptr) {  // a child that has been forked meanwhile
        release();
        return {};
    }
    RecordedModule* before = nullptr;  // the last at its place
    for (std::uint32_t i = 0; i < header_->modules; ++i) {
        const bool overlaps = modules_[i].begin < module.end && module.begin < modules_[i].end;
        before = overlaps ? &modules_[i] : before;
    }
    const bool is_noted = before != nullptr && are_same(*before, module);
    const bool replaces = before != nullptr && !is_noted;
    if (before != nullptr) {
        const std::uint64_t gone = before->gone_ticks == 0 ? tick_clock().ticks() : before->gone_ticks;
        before->gone_ticks = is_noted ? 0 : gone;  // it may have come back
    }
    std::uint32_t number = is_noted ? static_cast<std::uint32_t>(before - modules_) + 1 : 0;
    if (!is_noted) {
        if (header_->node_room != 0 && note_python(object)) {
            note_version();
        }
        const std::uint32_t place = header_->modules;
        const bool fits = place < max_recorded_modules &&
                          (place % modules_a_page != 0 ||
                           tree_file.reserve(modules_offset + place * sizeof(RecordedModule), 4096) == 0);
        if (fits) {
            module.seen_ticks = tick_clock().ticks();
            expire_window();  // so that what it calls comes after
            std::memcpy(&modules_[place], &module, sizeof module);
            number = place + 1;
            std::atomic_ref{header_->modules}.store(number, std::memory_order_release);
        } else {
            ++header_->lost_modules;
        }
        if (replaces) {
            begin_anew();
        }
        auto* const end = known_objects.begin() + known_count;
        if (known_count < known_objects.size() && std::find(known_objects.begin(), end, module.begin) == end) {
            known_objects[known_count++] = module.begin;
        }
    }
    noted.store(mark | number, std::memory_order_relaxed);
    release();
    return {number, replaces};
}

bool CallTree::note_gone_objects() noexcept
{
    const SignalsBlocked blocked;
    acquire();
    bool is_any_gone = false;
    for (std::uint32_t i = 0; i < header_->modules; ++i) {
        RecordedModule& module = modules_[i];
        FoundObject now;
        if (module.gone_ticks == 0 &&
            (!find_object(module.begin, now) || now.begin != module.begin || now.end != module.end)) {
            module.gone_ticks = tick_clock().ticks();
            is_any_gone = true;
            forget_python(module.begin);
        }
    }
    if (is_any_gone) {
        for (std::atomic<std::uint64_t>& noted : noted_) {
            noted.store(0, std::memory_order_relaxed);
        }
    }
    release();
    return is_any_gone;
}

}  // namespace memsweep::trace::recorder
