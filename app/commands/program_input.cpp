#include "app/commands/program_input.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "app/cli/console.hpp"
#include "core/base/quantity.hpp"
#include "core/engine/command/supervision.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/spool.hpp"
#include "scenarios/reader/fingerprint.hpp"

namespace memsweep::app {
namespace {

using sys::UniqueFd;

constexpr std::chrono::seconds longest_silence{10};
constexpr std::uint64_t most_copied_bytes = 1ULL << 30;  // `yes` never ends
constexpr const char* own_name = "standard input";

struct stat stat_of(int fd)
{
    struct stat facts {};
    static_cast<void>(::fstat(fd, &facts));  // a failure leaves zeroes, for which no test holds
    return facts;
}

// Where it is read from there; empty: it has to be copied.
std::string place_of(int fd)
{
    if (!S_ISREG(stat_of(fd).st_mode) || ::lseek(fd, 0, SEEK_CUR) != 0) {
        return {};
    }
    std::string path = fmt::format("/proc/self/fd/{}", fd);
    return ::access(path.c_str(), R_OK) == 0 ? path : std::string{};
}

struct Contents {
    scenarios::Digest digest;
    std::uint64_t bytes{};

    bool add(std::string_view piece)
    {
        digest.add(piece);
        bytes += piece.size();
        return true;
    }
    std::string text() { return fmt::format("{} B, sha256 {}", bytes, digest.hex()); }
};

// Reads a regular file from its beginning. The file offset stays where it was.
base::Expected<void> read_through(int fd, const std::string& name, Contents& contents)
{
    std::array<char, 256 << 10> piece{};
    for (;;) {
        const ssize_t got = sys::retry_interrupted(
            [&] { return ::pread(fd, piece.data(), piece.size(), static_cast<off_t>(contents.bytes)); });
        if (got < 0) {
            return base::fail(sys::io_error("cannot read", errno, name));
        }
        if (got == 0) {
            return {};
        }
        contents.add({piece.data(), static_cast<std::size_t>(got)});
    }
}

base::Error with_hint(base::Error error)
{
    if (error.code == base::ErrorCode::timeout) {
        error.message += "; --stdin /dev/null gives the programs nothing to read, --stdin FILE a file, and --stdin - "
                         "waits for the end";
    } else if (error.code == base::ErrorCode::invalid_input) {
        error.message += "; put it into a file, and give --stdin FILE";
    }
    return error;
}

// A terminal or /dev/null: nobody has put it there for the programs to read.
bool is_nothing(int fd)
{
    const struct stat facts = stat_of(fd);
    return S_ISCHR(facts.st_mode) && (::isatty(fd) == 1 || facts.st_rdev == makedev(1, 3));
}

void say_that_it_waits(int fd, const std::string& name)
{
    if (const auto there = sys::wait_readable(fd, std::chrono::seconds{1}); there && !*there) {
        print_note(
            fmt::format("{} is open and brings nothing yet: waiting; --stdin /dev/null gives the programs nothing "
                        "to read",
                        name));
    }
}

std::string contents_of(const std::string& path)
{
    const UniqueFd file = sys::open_regular_file(path);
    Contents contents;
    return file.valid() && read_through(file.get(), path, contents) ? contents.text() : std::string{};
}

}  // namespace

ProgramInput::ProgramInput(UniqueFd file, std::string contents)
    : file_{std::move(file)}, path_{fmt::format("/proc/self/fd/{}", file_.get())}, contents_{std::move(contents)}
{
}

base::Expected<ProgramInput> ProgramInput::take(const std::string& file)
{
    const bool is_own = file.empty() || file == "-";
    if (file.empty() && is_nothing(STDIN_FILENO)) {
        return ProgramInput{};
    }
    const std::string name = is_own ? own_name : file;
    UniqueFd opened{is_own ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                           : ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)};
    if (!opened.valid()) {
        return base::fail(sys::io_error("cannot open", errno, name));
    }
    Contents contents;
    if (!place_of(opened.get()).empty()) {
        MEMSWEEP_TRY(read_through(opened.get(), name, contents));
    } else {
        const off_t begun = ::lseek(opened.get(), 0, SEEK_CUR);  // -1 of a pipe
        say_that_it_waits(opened.get(), name);
        sys::SpoolLimits limits{.bytes = most_copied_bytes};
        if (file.empty()) {
            limits.silence = longest_silence;
        }
        auto copy =
            sys::spooled(opened.get(), name, limits, [&](std::string_view piece) { return contents.add(piece); });
        if (!copy) {
            return base::fail(with_hint(std::move(copy.error())));
        }
        if (begun > 0) {
            ::lseek(opened.get(), begun, SEEK_SET);  // whoever reads on behind us, as a shell its loop's list
        }
        opened = *std::move(copy);
    }
    return contents.bytes == 0 ? ProgramInput{} : ProgramInput{std::move(opened), contents.text()};
}

void look_into_inputs(std::vector<model::Plan>& plans)
{
    std::map<std::string, std::string> known;
    for (model::Plan& plan : plans) {
        for (model::Case& one : plan.cases) {
            if (!one.command() || one.command()->input.empty() || !one.command()->input_contents.empty() ||
                !one.command()->prepare.empty()) {
                continue;
            }
            const std::string path = engine::path_from(one.command()->cwd, one.command()->input);
            const auto [place, is_new] = known.try_emplace(path);
            if (is_new) {
                place->second = contents_of(path);
            }
            one.command()->input_contents = place->second;
        }
    }
}

bool has_unread_input()
{
    const struct stat facts = stat_of(STDIN_FILENO);
    if (S_ISREG(facts.st_mode)) {
        return facts.st_size > ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    }
    if (!S_ISFIFO(facts.st_mode) && !S_ISSOCK(facts.st_mode)) {
        return false;
    }
    int waiting = 0;
    return ::ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0;
}

}  // namespace memsweep::app
