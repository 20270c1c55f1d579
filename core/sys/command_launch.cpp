#include "core/sys/command_launch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/sys/clock.hpp"
#include "core/sys/launcher/launch_words.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::sys {
namespace {

constexpr int first_lifted = 10;  // above what is replaced

base::Expected<std::string> find_launcher()
{
    std::error_code problem;
    const std::filesystem::path folder = MEMSWEEP_TRY(own_program_folder());
    for (const char* const place : {"memsweep-launch", "../lib/memsweep/memsweep-launch"}) {
        const std::filesystem::path path = (folder / place).lexically_normal();
        if (std::filesystem::exists(path, problem)) {
            return path.string();
        }
    }
    return base::fail(base::ErrorCode::not_supported,
                      "memsweep-launch is missing: neither beside this program nor in ../lib/memsweep",
                      folder.string());
}

const base::Expected<std::string>& launcher_path()
{
    static const base::Expected<std::string> path = find_launcher();
    return path;
}

class SpawnActions {
  public:
    SpawnActions() noexcept { ::posix_spawn_file_actions_init(&actions_); }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;
    ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }

    // `fd` becomes `number`, whatever else is there; our own copy waits out of the way until then.
    [[nodiscard]] bool give(int fd, int number)
    {
        lifted_.emplace_back(lifted(fd));
        return lifted_.back().valid() &&
               ::posix_spawn_file_actions_adddup2(&actions_, lifted_.back().get(), number) == 0;
    }
    // `fd`, none of the standard three, keeps its number: so says a copy onto itself.
    void keep(int fd) { ::posix_spawn_file_actions_adddup2(&actions_, fd, fd); }
    void enter(const std::string& folder)
    {
        if (!folder.empty()) {
            ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
        }
    }
    [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    // A limit below the first number is EINVAL to the kernel, which would tell nobody what is missing.
    [[nodiscard]] static int lifted(int fd)
    {
        const int number = ::fcntl(fd, F_DUPFD_CLOEXEC, first_lifted);
        errno = number < 0 && errno == EINVAL ? EMFILE : errno;
        return number;
    }

    posix_spawn_file_actions_t actions_{};
    std::vector<UniqueFd> lifted_;
};

class SpawnAttributes {
  public:
    SpawnAttributes() noexcept
        : SpawnAttributes{{SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD, SIGXFSZ, SIGTTIN, SIGTTOU}, no_signal()}
    {
    }
    // Signals are as ours were, but for those that we ignore.
    explicit SpawnAttributes(const sigset_t& mask) noexcept : SpawnAttributes{{SIGPIPE, SIGXFSZ}, mask} {}
    SpawnAttributes(const SpawnAttributes&) = delete;
    SpawnAttributes& operator=(const SpawnAttributes&) = delete;
    ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
    [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

  private:
    SpawnAttributes(std::initializer_list<int> by_default, const sigset_t& mask) noexcept
    {
        ::posix_spawnattr_init(&attributes_);
        sigset_t set;
        sigemptyset(&set);
        for (const int signal : by_default) {
            sigaddset(&set, signal);
        }
        ::posix_spawnattr_setsigdefault(&attributes_, &set);
        ::posix_spawnattr_setsigmask(&attributes_, &mask);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }
    static sigset_t no_signal() noexcept
    {
        sigset_t none;
        sigemptyset(&none);
        return none;
    }

    posix_spawnattr_t attributes_{};
};

// Both ends of a socket of whole messages.
struct SocketPair {
    UniqueFd ours;
    UniqueFd theirs;
    [[nodiscard]] static base::Expected<SocketPair> make()
    {
        std::array<int, 2> sockets{-1, -1};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
            return base::fail(base::os_error("socketpair", errno));
        }
        return SocketPair{UniqueFd{sockets[0]}, UniqueFd{sockets[1]}};
    }
};

// The whole message, or false: nothing comes any more, or not within `patience_ms`.
template <typename Word>
bool receive(int socket, Word& word, int patience_ms)
{
    pollfd ready{socket, POLLIN, 0};
    return retry_interrupted([&] { return ::poll(&ready, 1, patience_ms); }) > 0 &&
           retry_interrupted([&] { return ::recv(socket, &word, sizeof word, 0); }) ==
               static_cast<ssize_t>(sizeof word);
}

void order(int socket, int what, pid_t pid)
{
    const GuardOrder order{what, pid};
    ::send(socket, &order, sizeof order, MSG_NOSIGNAL);
}

constexpr int for_ever = -1;
constexpr int guard_patience_ms = 6000;  // a second more than it has with what it guards

// What a program becomes of.
struct Born {
    pid_t pid{};
    std::chrono::nanoseconds begun{};
    int refused{};  // errno of what became of its program; 0: it runs
};

// Errors: os, no process was made.
base::Expected<Born> born(int gate, const std::string& program)
{
    LaunchWord born{};
    LaunchWord refused{};
    // The two words come from two processes, in any order.
    for (LaunchWord word{}; receive(gate, word, for_ever);) {
        (word.pid != 0 ? born : refused) = word;
    }
    if (born.pid == 0) {
        return base::fail(base::os_error("starting a process", refused.error != 0 ? refused.error : ECHILD, program));
    }
    return Born{born.pid, std::chrono::nanoseconds{born.begun_ns}, refused.error};
}

struct Spawned {
    Guard guard;
    UniqueFd gate;
};

// The launcher with its words in front of the program's; `actions` give it what else it gets.
base::Expected<Spawned> spawn_launcher(const char* manner, SpawnActions& actions, const SpawnAttributes& attributes,
                                       const SpawnOptions& program, const std::string& cwd)
{
    const std::string path = MEMSWEEP_TRY(launcher_path());
    const std::vector<std::string> environment = MEMSWEEP_TRY(child_environment(program));
    SocketPair gate = MEMSWEEP_TRY(SocketPair::make());
    SocketPair orders = MEMSWEEP_TRY(SocketPair::make());
    actions.keep(gate.theirs.get());
    actions.keep(orders.theirs.get());
    std::vector<std::string> words{path, manner, std::to_string(gate.theirs.get()),
                                   std::to_string(orders.theirs.get())};
    words.insert(words.end(), program.argv.begin(), program.argv.end());
    pid_t pid = 0;
    const int problem = ::posix_spawn(&pid, path.c_str(), actions.get(), attributes.get(), exec_list(words).data(),
                                      exec_list(environment).data());
    if (problem != 0) {
        const bool is_folder = cwd.empty() || std::filesystem::is_directory(cwd);
        return base::fail(base::os_error("cannot be run", problem, is_folder ? path : cwd));
    }
    return Spawned{Guard{pid, std::move(orders.ours)}, std::move(gate.ours)};
}

}  // namespace

base::Expected<IdleProgram> idle_program()
{
    return IdleProgram{MEMSWEEP_TRY(launcher_path()), could_not_launch};
}

Guard::~Guard()
{
    end();
}

base::Expected<pid_t> Guard::launcher() const
{
    GuardWord word{};
    if (!receive(orders_.get(), word, for_ever) || word.launcher == 0) {
        return base::fail(base::os_error("starting a process", word.error != 0 ? word.error : ECHILD));
    }
    return word.launcher;
}

namespace {

ExitStatus status_in(const GuardEnd& end)
{
    if (end.ended == 0) {
        return {.code = -1};
    }
    rusage usage{};
    static_assert(sizeof usage == sizeof end.usage);
    std::memcpy(&usage, end.usage, sizeof usage);
    return exit_status(end.status, usage);
}

}  // namespace

std::optional<ExitStatus> Guard::status_of(pid_t program) const
{
    order(orders_.get(), guard_wait, program);
    GuardEnd end{};
    if (!receive(orders_.get(), end, guard_patience_ms)) {
        return ExitStatus{.code = -1};
    }
    return end.ended != 0 ? std::optional{status_in(end)} : std::nullopt;
}

base::Expected<Ended> Guard::clear(pid_t program)
{
    order(orders_.get(), guard_wait, program);
    ::shutdown(orders_.get(), SHUT_WR);
    GuardEnd ended{};
    GuardCleared cleared{};
    const bool is_there =
        receive(orders_.get(), ended, guard_patience_ms) && receive(orders_.get(), cleared, guard_patience_ms);
    if (!is_there) {
        signal_descendants(pid_, SIGKILL);
        ::kill(pid_, SIGKILL);
    }
    end();
    if (!is_there) {
        return base::fail(base::ErrorCode::os, "the process that guarded it was lost");
    }
    return Ended{.status = status_in(ended),
                 .left = {.processes = static_cast<std::size_t>(cleared.killed),
                          .max_rss_bytes = static_cast<std::uint64_t>(cleared.max_rss_kib) * 1024,
                          .survivor = cleared.survivor}};
}

void Guard::leave() noexcept
{
    order(orders_.get(), guard_leave, 0);
    end();
}

void Guard::end() noexcept
{
    orders_.reset();
    if (const pid_t pid = std::exchange(pid_, 0); pid > 0) {
        retry_interrupted([&] { return ::waitpid(pid, nullptr, 0); });
    }
}

base::Expected<Ended> GuardedProgram::end(std::chrono::nanoseconds patience)
{
    // A failing poll is no end: then the guard is simply asked.
    static_cast<void>(wait_readable(pidfd_.get(), patience));
    return guard_.clear(pid_);
}

CommandLaunch::CommandLaunch(Guard guard, pid_t launcher, UniqueFd gate, std::string program) noexcept
    : guard_{std::move(guard)}, launcher_{launcher}, gate_{std::move(gate)}, program_{std::move(program)}
{
}

base::Expected<CommandLaunch> CommandLaunch::prepare(const LaunchOptions& options)
{
    const std::string& program = options.program.argv.front();
    SpawnActions actions;
    actions.enter(options.cwd);
    if (!actions.give(options.input, 0) || !actions.give(options.output, 1) || !actions.give(options.error, 2)) {
        return base::fail(base::os_error("fcntl", errno, program));
    }
    Spawned spawned =
        MEMSWEEP_TRY(spawn_launcher(launch_measured, actions, SpawnAttributes{}, options.program, options.cwd));
    const pid_t launcher = MEMSWEEP_TRY(spawned.guard.launcher());
    return CommandLaunch{std::move(spawned.guard), launcher, std::move(spawned.gate), program};
}

void CommandLaunch::release(int gate) noexcept
{
    ::send(gate, &launch_go, 1, MSG_NOSIGNAL);
}

base::Expected<Launched> CommandLaunch::start()
{
    release(gate());
    return started();
}

base::Expected<Launched> CommandLaunch::started()
{
    const Born born = MEMSWEEP_TRY(sys::born(gate(), program_));
    if (born.refused != 0) {
        return base::fail(base::os_error("cannot be run", born.refused, program_));
    }
    UniqueFd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, born.pid, 0))};
    if (!pidfd.valid()) {
        return base::fail(base::os_error("pidfd_open", errno, program_));
    }
    return Launched{GuardedProgram{born.pid, std::move(pidfd), std::move(guard_)}, born.begun};
}

namespace {

sigset_t passed_on()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        sigaddset(&set, signal);
    }
    return set;
}

}  // namespace

ForegroundCommand::ForegroundCommand() noexcept : masks_{true}
{
    const sigset_t set = passed_on();
    ::pthread_sigmask(SIG_BLOCK, &set, &mask_before_);
    signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

base::Expected<ForegroundCommand> ForegroundCommand::start(const ForegroundOptions& options)
{
    ForegroundCommand command;
    command.is_child_ = options.as_child;
    const char* const manner = options.as_child ? launch_recorded : launch_watched;
    const std::string& program = options.program.argv.front();
    SpawnActions actions;
    for (const auto& [fd, number] :
         {std::pair{options.program.output, STDOUT_FILENO}, {options.program.error, STDERR_FILENO}}) {
        if (fd != number && !actions.give(fd, number)) {
            return base::fail(base::os_error("cannot be run", errno, program));
        }
    }
    Spawned spawned =
        MEMSWEEP_TRY(spawn_launcher(manner, actions, SpawnAttributes{command.mask_before_}, options.program, {}));
    const pid_t launcher = MEMSWEEP_TRY(spawned.guard.launcher());
    if (options.before) {
        options.before(launcher, spawned.guard.pid());
    }
    CommandLaunch::release(spawned.gate.get());
    const Born born = MEMSWEEP_TRY(sys::born(spawned.gate.get(), program));
    if (born.refused != 0) {
        if (options.as_child) {
            retry_interrupted([&] { return ::waitpid(born.pid, nullptr, 0); });
        }
        return base::fail(base::os_error("cannot be run", born.refused, program));
    }
    command.pid_ = born.pid;
    command.begun_ = born.begun;
    command.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, command.pid_, 0)));
    command.guard_.emplace(std::move(spawned.guard));
    return command;
}

ForegroundCommand::ForegroundCommand(ForegroundCommand&& other) noexcept
    : pid_{other.pid_}, begun_{other.begun_}, mask_before_{other.mask_before_},
      masks_{std::exchange(other.masks_, false)}, is_child_{other.is_child_}, signals_{std::move(other.signals_)},
      pidfd_{std::move(other.pidfd_)}, guard_{std::move(other.guard_)}
{
}

ForegroundCommand::~ForegroundCommand()
{
    take_signals_back();
}

void ForegroundCommand::take_signals_back() noexcept
{
    if (std::exchange(masks_, false)) {
        // What came for the command is not for us any more.
        const sigset_t set = passed_on();
        constexpr timespec at_once{};
        while (::sigtimedwait(&set, nullptr, &at_once) > 0) {
        }
        ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    }
}

void ForegroundCommand::pass_on_signals() const
{
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        if (info.ssi_code != SI_KERNEL) {
            ::kill(pid_, static_cast<int>(info.ssi_signo));
        }
    }
}

std::optional<ExitStatus> ForegroundCommand::status() const
{
    if (pidfd_.valid() && !wait_readable(pidfd_.get(), std::chrono::nanoseconds::zero()).value_or(true)) {
        return std::nullopt;
    }
    if (!is_child_) {
        return guard_->status_of(pid_);
    }
    int wait_status = 0;
    rusage usage{};
    const pid_t reaped = retry_interrupted([&] { return ::wait4(pid_, &wait_status, WNOHANG, &usage); });
    if (reaped == 0) {
        return std::nullopt;
    }
    return reaped == pid_ ? exit_status(wait_status, usage) : ExitStatus{.code = -1};
}

ExitStatus ForegroundCommand::wait(std::chrono::nanoseconds interval, const std::function<void()>& each)
{
    constexpr std::chrono::milliseconds without_pidfd{10};
    auto due = std::chrono::steady_clock::now() + interval;
    for (;;) {
        if (const auto ended = status()) {
            signals_.reset();  // whoever has few descriptors needs them now
            pidfd_.reset();
            guard_->leave();
            take_signals_back();
            return *ended;
        }
        std::array<pollfd, 2> ready{{{signals_.get(), POLLIN, 0}, {pidfd_.get(), POLLIN, 0}}};
        auto patience = pidfd_.valid() ? std::chrono::nanoseconds{-1} : std::chrono::nanoseconds{without_pidfd};
        if (each) {
            patience = std::max(due - std::chrono::steady_clock::now(), std::chrono::steady_clock::duration::zero());
        }
        const timespec timeout = to_timespec(patience);
        ::ppoll(ready.data(), ready.size(), patience.count() < 0 ? nullptr : &timeout, nullptr);
        pass_on_signals();
        if (each && std::chrono::steady_clock::now() >= due) {
            each();
            due = std::max(due + interval, std::chrono::steady_clock::now());
        }
    }
}

}  // namespace memsweep::sys
