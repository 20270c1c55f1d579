#include "core/trace/recorder/starting.hpp"

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>

#include <alloca.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/trace/format/recording_layout.hpp"
#include "core/trace/recorder/image.hpp"
#include "core/trace/recorder/recording_file.hpp"
#include "core/trace/recorder/start_notes.hpp"

#define MEMSWEEP_PRELOADED extern "C" __attribute__((visibility("default")))

namespace memsweep::trace::recorder {
namespace {

using Texts = char* const*;  // ends with a null pointer
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, Texts, Texts);

struct StartingCalls {
    int (*execve)(const char*, Texts, Texts);
    int (*execvpe)(const char*, Texts, Texts);
    int (*fexecve)(int, Texts, Texts);
    int (*execveat)(int, const char*, Texts, Texts, int);
    Spawn* posix_spawn;
    Spawn* posix_spawnp;
    int (*system)(const char*);
    std::FILE* (*popen)(const char*, const char*);
};

constexpr const char* preload_variable = "LD_PRELOAD=";
constexpr std::size_t max_stack_entries = 2048;

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): a preloaded library has no main to own them
StartingCalls next{};
std::array<char, max_path_bytes> library;              // ours, as it is preloaded
std::array<char, max_path_bytes + 32> folder_setting;  // NAME=VALUE
std::array<char, 256> options_setting;                 // likewise; empty: there are none
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

template <typename Function>
void find(Function*& into, const char* name) noexcept
{
    if (void* const found = ::dlsym(RTLD_NEXT, name)) {
        std::memcpy(&into, &found, sizeof found);
    }
}

template <std::size_t size>
void keep_setting(std::array<char, size>& into, const char* name) noexcept
{
    const char* const value = ::getenv(name);
    const std::size_t length = std::strlen(name);
    if (value == nullptr || length + 1 + std::strlen(value) >= size) {
        return;
    }
    std::memcpy(into.data(), name, length);
    into[length] = '=';
    std::memcpy(into.data() + length + 1, value, std::strlen(value) + 1);
}

bool begins(const char* text, const char* with) noexcept
{
    return std::strncmp(text, with, std::strlen(with)) == 0;
}

// The file that execvp(3) would try first and may execute; `name` itself where there is none.
const char* find_in_path(const char* name, std::array<char, max_path_bytes>& room) noexcept
{
    const char* folder = ::getenv("PATH");
    folder = folder == nullptr ? "/bin:/usr/bin" : folder;
    if (std::strchr(name, '/') != nullptr || *name == '\0') {
        return name;
    }
    for (bool is_last = false; !is_last;) {
        const std::size_t length = std::strcspn(folder, ":");
        is_last = folder[length] == '\0';
        if (length + 1 + std::strlen(name) < room.size()) {
            std::memcpy(room.data(), folder, length);
            room[length] = '/';
            std::memcpy(room.data() + (length == 0 ? 0 : length + 1), name, std::strlen(name) + 1);
            if (kernel(SYS_faccessat, AT_FDCWD, room.data(), X_OK) == 0) {
                return room.data();
            }
        }
        folder += length + 1;
    }
    return name;
}

// Whether a list as in LD_PRELOAD names our library.
bool lists_us(const char* list) noexcept
{
    const std::size_t length = std::strlen(library.data());
    for (const char* at = list; *at != '\0';) {
        const std::size_t entry = std::strcspn(at, ": ");
        if (entry == length && std::memcmp(at, library.data(), length) == 0) {
            return true;
        }
        at += entry + (at[entry] == '\0' ? 0 : 1);
    }
    return false;
}

// A sanitizer's runtime refuses to come behind another library.
bool must_be_first(const char* list) noexcept
{
    return std::strstr(list, "libasan") != nullptr || std::strstr(list, "libtsan") != nullptr ||
           std::strstr(list, "libhwasan") != nullptr || std::strstr(list, "libclang_rt.") != nullptr;
}

// What a new environment has of ours.
struct OursIn {
    std::size_t entries{};
    const char* preload{};  // the value of LD_PRELOAD, the first as the dynamic linker takes it; null: none
    bool has_folder{};
    bool has_options{};
};

OursIn ours_in(Texts environment) noexcept
{
    OursIn found;
    for (; environment != nullptr && *environment != nullptr; ++environment, ++found.entries) {
        const char* const entry = *environment;
        if (found.preload == nullptr && begins(entry, preload_variable)) {
            found.preload = entry + std::strlen(preload_variable);
        }
        found.has_folder = found.has_folder || std::strcmp(entry, folder_setting.data()) == 0;
        found.has_options = found.has_options || std::strcmp(entry, options_setting.data()) == 0;
    }
    found.has_options = found.has_options || options_setting[0] == '\0';
    return found;
}

enum class Change { none, give, take };

Change change_for(PreloadObstacle obstacle, const OursIn& found) noexcept
{
    const bool is_listed = found.preload != nullptr && lists_us(found.preload);
    if (obstacle == PreloadObstacle::other_loader) {
        return is_listed ? Change::take : Change::none;
    }
    if (obstacle != PreloadObstacle::none || (found.preload != nullptr && must_be_first(found.preload))) {
        return Change::none;
    }
    return is_listed && found.has_folder && found.has_options ? Change::none : Change::give;
}

// LD_PRELOAD=..., into room for the list, our library and the name.
void put_preload(char* into, const char* list, Change change) noexcept
{
    const std::size_t name = std::strlen(preload_variable);
    std::memcpy(into, preload_variable, name + 1);
    char* at = into + name;
    const auto put = [&](const char* entry, std::size_t length) {
        if (at != into + name) {
            *at++ = ':';
        }
        std::memcpy(at, entry, length);
        at += length;
    };
    const std::size_t own = std::strlen(library.data());
    if (change == Change::give) {
        put(library.data(), own);
    }
    for (const char* from = list; from != nullptr && *from != '\0';) {
        const std::size_t length = std::strcspn(from, ": ");
        if (length != 0 && (length != own || std::memcmp(from, library.data(), own) != 0)) {
            put(from, length);
        }
        from += length + (from[length] == '\0' ? 0 : 1);
    }
    *at = '\0';
}

bool is_setting(const char* entry, const char* name) noexcept
{
    const std::size_t length = std::strlen(name);
    return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

// Into room for three entries more.
void put_environment(char** into, Texts environment, char* preload, Change change) noexcept
{
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        const char* const entry = *environment;
        const bool is_ours = begins(entry, preload_variable) ||
                             (change == Change::give && (is_setting(entry, recording_folder_variable) ||
                                                         is_setting(entry, recording_options_variable)));
        if (!is_ours) {
            *into++ = *environment;
        }
    }
    if (preload[std::strlen(preload_variable)] != '\0') {
        *into++ = preload;
    }
    if (change == Change::give) {
        *into++ = folder_setting.data();
        if (options_setting[0] != '\0') {
            *into++ = options_setting.data();
        }
    }
    *into = nullptr;
}

// Calls `go` with the environment that the program is to have.
template <typename Go>
auto with_environment(PreloadObstacle obstacle, Texts environment, const Go& go) noexcept
{
    const OursIn found = ours_in(environment);
    const Change change = change_for(obstacle, found);
    if (change == Change::none) {
        return go(environment);
    }
    const std::size_t list = found.preload == nullptr ? 0 : std::strlen(found.preload);
    const std::size_t text = std::strlen(preload_variable) + std::strlen(library.data()) + list + 2;
    const std::size_t bytes = (found.entries + 4) * sizeof(char*) + text;
    const bool is_large = bytes > max_stack_entries * sizeof(char*);
    void* room = nullptr;
    if (is_large) {
        const long at = kernel(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at < 0) {
            return go(environment);
        }
        room = reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr): what mmap gave
    } else {
        room = alloca(bytes);
    }
    auto** const entries = static_cast<char**>(room);
    char* const preload = reinterpret_cast<char*>(entries + found.entries + 4);
    put_preload(preload, found.preload, change);
    put_environment(entries, environment, preload, change);
    const auto result = go(static_cast<Texts>(entries));
    if (is_large) {
        kernel(SYS_munmap, room, bytes);
    }
    return result;
}

// Children are none of a recording that is to have the program alone.
bool takes_part(bool in_child) noexcept
{
    const std::uint32_t only = choice().only_child_of;
    return recording_folder() != nullptr && library[0] != '\0' &&
           (only == 0 || (!in_child && static_cast<std::uint32_t>(kernel(SYS_getppid)) == only));
}

// Notes the start and becomes the program; returns where that fails.
template <typename Exec>
int become(const char* file, Texts words, Texts environment, const Exec& exec) noexcept
{
    const int before = errno;
    const PreloadObstacle obstacle = preload_obstacle(file);
    StartEntry* const entry = note_start(static_cast<std::uint32_t>(kernel(SYS_getpid)), file, obstacle, words);
    errno = before;
    const int result = with_environment(obstacle, environment, exec);
    const int problem = errno;
    settle_start(entry, 0);
    errno = problem;
    return result;
}

int spawn(Spawn* real_spawn, const char* file, pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
          const posix_spawnattr_t* attributes, Texts words, Texts environment) noexcept
{
    const int before = errno;
    const PreloadObstacle obstacle = preload_obstacle(file);
    StartEntry* const entry = note_start(0, file, obstacle, words);
    errno = before;
    pid_t child = 0;
    const int problem = with_environment(
        obstacle, environment, [&](Texts kept) { return real_spawn(&child, path, actions, attributes, words, kept); });
    if (problem == 0 && pid != nullptr) {
        *pid = child;
    }
    settle_start(entry, problem == 0 ? static_cast<std::uint32_t>(child) : 0);
    return problem;
}

// A number in a path below /proc.
const char* path_of(int fd, std::array<char, 32>& room) noexcept
{
    constexpr const char* folder = "/proc/self/fd/";
    std::memcpy(room.data(), folder, std::strlen(folder));
    char* at = room.data() + std::strlen(folder);
    std::array<char, 12> digits{};
    std::size_t count = 0;
    for (unsigned rest = fd < 0 ? 0 : static_cast<unsigned>(fd); count == 0 || rest != 0; rest /= 10) {
        digits[count++] = static_cast<char>('0' + rest % 10);
    }
    while (count != 0) {
        *at++ = digits[--count];
    }
    *at = '\0';
    return room.data();
}

// The C library starts the shell itself, with the environment that is there then.
template <typename Call>
auto with_own_environment(const Call& call) noexcept
{
    char** const before = environ;
    return with_environment(PreloadObstacle::none, before, [&](Texts kept) {
        if (kept == static_cast<Texts>(before)) {
            return call();
        }
        auto** const swapped = const_cast<char**>(kept);
        environ = swapped;
        const auto result = call();
        if (environ == swapped) {
            environ = before;
        }
        return result;
    });
}

// The words of execl(3) and its like: `more` begins behind the first.
std::size_t count_words(va_list& more) noexcept
{
    std::size_t count = 1;
    while (va_arg(more, char*) != nullptr) {
        ++count;
    }
    return count;
}

void put_words(char** words, const char* first, std::size_t count, va_list& more) noexcept
{
    words[0] = const_cast<char*>(first);
    for (std::size_t i = 1; i <= count; ++i) {
        words[i] = va_arg(more, char*);
    }
}

}  // namespace

void begin_noting_starts() noexcept
{
    find(next.execve, "execve");
    find(next.execvpe, "execvpe");
    find(next.fexecve, "fexecve");
    find(next.execveat, "execveat");
    find(next.posix_spawn, "posix_spawn");
    find(next.posix_spawnp, "posix_spawnp");
    find(next.system, "system");
    find(next.popen, "popen");
    const char* const folder = recording_folder();
    Dl_info us{};
    if (folder == nullptr || ::dladdr(reinterpret_cast<void*>(&begin_noting_starts), &us) == 0 ||
        us.dli_fname == nullptr || std::strlen(us.dli_fname) >= library.size()) {
        return;
    }
    std::memcpy(library.data(), us.dli_fname, std::strlen(us.dli_fname) + 1);
    keep_setting(folder_setting, recording_folder_variable);
    keep_setting(options_setting, recording_options_variable);
    map_starts(folder);
}

namespace {

// A constructor of another library may start a program before ours has run.
const StartingCalls& real_starts() noexcept
{
    if (next.execve == nullptr) {
        begin_noting_starts();
    }
    return next;
}

}  // namespace

}  // namespace memsweep::trace::recorder

using namespace memsweep::trace::recorder;  // NOLINT(google-build-using-namespace): the C library's functions have none

// NOLINTBEGIN(readability-identifier-naming,cert-dcl50-cpp): the C library's names and signatures
MEMSWEEP_PRELOADED int execve(const char* path, Texts words, Texts environment) noexcept
{
    const StartingCalls& real = real_starts();
    if (!takes_part(false)) {
        return real.execve(path, words, environment);
    }
    return become(path, words, environment, [&](Texts kept) { return real.execve(path, words, kept); });
}

MEMSWEEP_PRELOADED int execv(const char* path, Texts words) noexcept
{
    return execve(path, words, environ);
}

MEMSWEEP_PRELOADED int execvpe(const char* name, Texts words, Texts environment) noexcept
{
    const StartingCalls& real = real_starts();
    if (!takes_part(false)) {
        return real.execvpe(name, words, environment);
    }
    std::array<char, max_path_bytes> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where it is used
    return become(find_in_path(name, room), words, environment,
                  [&](Texts kept) { return real.execvpe(name, words, kept); });
}

MEMSWEEP_PRELOADED int execvp(const char* name, Texts words) noexcept
{
    return execvpe(name, words, environ);
}

MEMSWEEP_PRELOADED int fexecve(int fd, Texts words, Texts environment) noexcept
{
    const StartingCalls& real = real_starts();
    if (!takes_part(false)) {
        return real.fexecve(fd, words, environment);
    }
    std::array<char, 32> room{};
    return become(path_of(fd, room), words, environment, [&](Texts kept) { return real.fexecve(fd, words, kept); });
}

MEMSWEEP_PRELOADED int execveat(int folder, const char* path, Texts words, Texts environment, int flags) noexcept
{
    const StartingCalls& real = real_starts();
    if (real.execveat == nullptr) {
        return static_cast<int>(::syscall(SYS_execveat, folder, path, words, environment, flags));
    }
    if (!takes_part(false)) {
        return real.execveat(folder, path, words, environment, flags);
    }
    std::array<char, 32> room{};
    const char* const file = *path == '\0' ? path_of(folder, room) : path;
    return become(file, words, environment,
                  [&](Texts kept) { return real.execveat(folder, path, words, kept, flags); });
}

MEMSWEEP_PRELOADED int execl(const char* path, const char* first, ...) noexcept
{
    va_list more;
    va_start(more, first);
    const std::size_t count = count_words(more);
    va_end(more);
    auto** const words = static_cast<char**>(alloca((count + 1) * sizeof(char*)));
    va_start(more, first);
    put_words(words, first, count, more);
    va_end(more);
    return execve(path, words, environ);
}

MEMSWEEP_PRELOADED int execlp(const char* name, const char* first, ...) noexcept
{
    va_list more;
    va_start(more, first);
    const std::size_t count = count_words(more);
    va_end(more);
    auto** const words = static_cast<char**>(alloca((count + 1) * sizeof(char*)));
    va_start(more, first);
    put_words(words, first, count, more);
    va_end(more);
    return execvpe(name, words, environ);
}

MEMSWEEP_PRELOADED int execle(const char* path, const char* first, ...) noexcept
{
    va_list more;
    va_start(more, first);
    const std::size_t count = count_words(more);
    va_end(more);
    auto** const words = static_cast<char**>(alloca((count + 1) * sizeof(char*)));
    va_start(more, first);
    put_words(words, first, count, more);
    auto** const environment = va_arg(more, char**);
    va_end(more);
    return execve(path, words, environment);
}

MEMSWEEP_PRELOADED int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                                   const posix_spawnattr_t* attributes, Texts words, Texts environment)
{
    const StartingCalls& real = real_starts();
    if (!takes_part(true)) {
        return real.posix_spawn(pid, path, actions, attributes, words, environment);
    }
    return spawn(real.posix_spawn, path, pid, path, actions, attributes, words, environment);
}

MEMSWEEP_PRELOADED int posix_spawnp(pid_t* pid, const char* name, const posix_spawn_file_actions_t* actions,
                                    const posix_spawnattr_t* attributes, Texts words, Texts environment)
{
    const StartingCalls& real = real_starts();
    if (!takes_part(true)) {
        return real.posix_spawnp(pid, name, actions, attributes, words, environment);
    }
    std::array<char, max_path_bytes> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): written where it is used
    return spawn(real.posix_spawnp, find_in_path(name, room), pid, name, actions, attributes, words, environment);
}

MEMSWEEP_PRELOADED int system(const char* command)
{
    const StartingCalls& real = real_starts();
    return takes_part(true) ? with_own_environment([&] { return real.system(command); }) : real.system(command);
}

MEMSWEEP_PRELOADED std::FILE* popen(const char* command, const char* mode)
{
    const StartingCalls& real = real_starts();
    return takes_part(true) ? with_own_environment([&] { return real.popen(command, mode); })
                            : real.popen(command, mode);
}
// NOLINTEND(readability-identifier-naming,cert-dcl50-cpp)
