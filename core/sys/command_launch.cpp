#include "core/sys/command_launch.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/sys/launcher/launch_words.hpp"

namespace memsweep::sys {
namespace {

constexpr int first_lifted = 10;  // above every number that the launcher is promised

base::Expected<std::string> find_launcher()
{
    std::error_code problem;
    const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", problem).parent_path();
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
    // `fd` keeps a number that nothing of ours has; -1: it could not be had.
    [[nodiscard]] int give(int fd)
    {
        lifted_.emplace_back(lifted(fd));
        const int number = lifted_.back().get();  // which stays open there: so says a copy onto itself
        return lifted_.back().valid() && ::posix_spawn_file_actions_adddup2(&actions_, number, number) == 0 ? number
                                                                                                            : -1;
    }
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
    // Signals are as ours were, but for SIGPIPE, which we ignore.
    explicit SpawnAttributes(const sigset_t& mask) noexcept : SpawnAttributes{{SIGPIPE}, mask} {}
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

base::Expected<std::pair<UniqueFd, UniqueFd>> launcher_sockets()
{
    std::array<int, 2> sockets{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
        return base::fail(base::os_error("socketpair", errno));
    }
    return std::pair{UniqueFd{sockets[0]}, UniqueFd{sockets[1]}};
}

}  // namespace

base::Expected<IdleProgram> idle_program()
{
    return IdleProgram{MEMSWEEP_TRY(launcher_path()), could_not_launch};
}

CommandLaunch::CommandLaunch(Launcher launcher, UniqueFd socket, std::string program, bool waits) noexcept
    : launcher_{std::move(launcher)}, socket_{std::move(socket)}, program_{std::move(program)}, waits_{waits}
{
}

CommandLaunch::~CommandLaunch()
{
    socket_.reset();  // one that still waits for its word ends at that
    reap();
}

void CommandLaunch::reap() noexcept
{
    if (const pid_t pid = std::exchange(launcher_.pid, 0); pid > 0) {
        retry_interrupted([&] { return ::waitpid(pid, nullptr, 0); });
    }
}

base::Expected<CommandLaunch> CommandLaunch::prepare(const LaunchOptions& options)
{
    const std::string path = MEMSWEEP_TRY(launcher_path());
    const std::vector<std::string> environment = MEMSWEEP_TRY(child_environment(options.program));
    const std::string& program = options.program.argv.front();
    auto [ours, theirs] = MEMSWEEP_TRY(launcher_sockets());
    SpawnActions actions;
    actions.enter(options.cwd);
    if (!actions.give(options.input, 0) || !actions.give(options.output, 1) || !actions.give(options.error, 2) ||
        !actions.give(theirs.get(), launcher_socket)) {
        return base::fail(base::os_error("fcntl", errno, program));
    }
    if (!options.waits) {
        CommandLaunch::release(ours.get());
    }
    std::vector<std::string> argv{path};
    argv.insert(argv.end(), options.program.argv.begin(), options.program.argv.end());
    Launcher launcher;
    const int problem = ::posix_spawn(&launcher.pid, path.c_str(), actions.get(), SpawnAttributes{}.get(),
                                      exec_list(argv).data(), exec_list(environment).data());
    if (problem != 0) {
        launcher.pid = 0;
        const bool is_folder = options.cwd.empty() || std::filesystem::is_directory(options.cwd);
        return base::fail(base::os_error("cannot be run", problem, is_folder ? path : options.cwd));
    }
    return CommandLaunch{std::move(launcher), std::move(ours), program, options.waits};
}

void CommandLaunch::release(int gate) noexcept
{
    ::send(gate, &launch_go, 1, MSG_NOSIGNAL);
}

base::Expected<Launched> CommandLaunch::start()
{
    if (waits_) {
        release(gate());
    }
    return started();
}

base::Expected<CommandLaunch::Born> CommandLaunch::born()
{
    const auto receive = [this](LaunchWord& word) {
        return retry_interrupted([&] { return ::recv(socket_.get(), &word, sizeof word, 0); });
    };
    LaunchWord born{};
    LaunchWord refused{};
    // The two words come from two processes, in any order.
    ssize_t got = 0;
    for (LaunchWord word{}; (got = receive(word)) == static_cast<ssize_t>(sizeof word);) {
        (word.pid != 0 ? born : refused) = word;
    }
    reap();
    if (born.pid == 0) {
        return base::fail(base::os_error("starting a process", refused.error != 0 ? refused.error : ECHILD, program_));
    }
    return Born{born.pid, std::chrono::nanoseconds{born.begun_ns}, refused.error};
}

base::Expected<Launched> CommandLaunch::started()
{
    const Born born = MEMSWEEP_TRY(this->born());
    UniqueFd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, born.pid, 0))};
    const int problem = pidfd.valid() ? 0 : errno;
    ChildProcess process{born.pid, std::move(pidfd)};
    if (born.refused != 0) {
        return base::fail(base::os_error("cannot be run", born.refused, program_));
    }
    if (problem != 0) {
        return base::fail(base::os_error("pidfd_open", problem, program_));
    }
    return Launched{std::move(process), born.begun};
}

base::Expected<ForegroundCommand> ForegroundCommand::launch(const std::vector<std::string>& argv)
{
    const std::string path = MEMSWEEP_TRY(launcher_path());
    const std::vector<std::string> environment = MEMSWEEP_TRY(child_environment({.argv = argv}));
    auto [ours, theirs] = MEMSWEEP_TRY(launcher_sockets());
    ForegroundCommand command;
    CommandLaunch::Launcher launcher;
    {
        SpawnActions actions;  // which hold the launcher's end open while they live
        const int number = actions.give(theirs.get());
        if (number < 0) {
            return base::fail(base::os_error("fcntl", errno, argv.front()));
        }
        std::vector<std::string> words{std::to_string(number)};
        words.insert(words.end(), argv.begin(), argv.end());
        const int problem =
            ::posix_spawn(&launcher.pid, path.c_str(), actions.get(), SpawnAttributes{command.mask_before_}.get(),
                          exec_list(words).data(), exec_list(environment).data());
        if (problem != 0) {
            return base::fail(base::os_error("cannot be run", problem, path));
        }
    }
    theirs.reset();
    ::send(ours.get(), &launch_in_foreground, 1, MSG_NOSIGNAL);
    CommandLaunch launch{std::move(launcher), std::move(ours), argv.front(), false};
    const CommandLaunch::Born born = MEMSWEEP_TRY(launch.born());
    if (born.refused != 0) {
        retry_interrupted([&] { return ::waitpid(born.pid, nullptr, 0); });
        return base::fail(base::os_error("cannot be run", born.refused, argv.front()));
    }
    command.pid_ = born.pid;
    command.begun_ = born.begun;
    command.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, command.pid_, 0)));
    return command;
}

}  // namespace memsweep::sys
