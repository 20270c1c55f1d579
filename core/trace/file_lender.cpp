#include "core/trace/file_lender.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/text.hpp"
#include "core/sys/process_stat.hpp"
#include "core/sys/signals.hpp"
#include "core/trace/format/count_layout.hpp"
#include "core/trace/format/recording_layout.hpp"
#include "core/trace/format/stack_recording.hpp"
#include "core/trace/format/start_layout.hpp"
#include "core/trace/unrecorded.hpp"

namespace memsweep::trace {
namespace {

constexpr std::chrono::milliseconds longest_asking{500};  // from the connection to the request

bool fill_with_chance(LendingSecret& secret)
{
    return ::getrandom(secret.data(), sizeof secret, 0) == static_cast<ssize_t>(sizeof secret);
}

// Takes the digits off the front. False: there are none.
bool take_digits(std::string_view& name)
{
    const std::size_t end = std::min(name.find_first_not_of("0123456789"), name.size());
    name.remove_prefix(end);
    return end != 0;
}

// The number of the process at the other end in its own PID namespace. Absent: not known.
std::optional<std::uint64_t> number_of_peer(int connection)
{
    ucred peer{};
    socklen_t bytes = sizeof peer;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.pid <= 0) {
        return std::nullopt;
    }
    return sys::innermost_number("/proc/" + std::to_string(peer.pid) + "/");
}

template <typename Sent>
std::string_view bytes_of(const Sent& sent)
{
    return {reinterpret_cast<const char*>(&sent), sizeof sent};
}

}  // namespace

bool is_lent(std::string_view name)
{
    if (!take_digits(name) || !name.starts_with('.')) {
        return false;
    }
    name.remove_prefix(1);
    return take_digits(name) && (name == recording_ending || name == stacks_ending || name == count_ending);
}

FileLender::FileLender(const std::string& folder) : folder_{folder}
{
    if (!listen()) {
        socket_.reset();
        return;
    }
    const sys::AllSignalsBlocked blocked;
    try {
        thread_ = std::jthread{[this](const std::stop_token& stop) { work(stop); }};
    } catch (const std::system_error&) {
        socket_.reset();
    }
}

// The kernel chooses a name that nobody has (autobind).
bool FileLender::listen()
{
    constexpr int most_waiting = 128;
    socket_.reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    constexpr socklen_t nameless = offsetof(sockaddr_un, sun_path);
    socklen_t bytes = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_.get(), plain, nameless) != 0 || ::getsockname(socket_.get(), plain, &bytes) != 0 ||
        bytes <= nameless || bytes - nameless > sizeof lending_.name || ::listen(socket_.get(), most_waiting) != 0) {
        return false;
    }
    lending_.name_bytes = bytes - nameless;
    std::memcpy(lending_.name, address.sun_path, lending_.name_bytes);
    return fill_with_chance(lending_.asking) && fill_with_chance(lending_.answering) && show();
}

bool FileLender::show() const
{
    const sys::UniqueFd file{::open(starts_in(folder_).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)};
    return ::pwrite(file.get(), &lending_, sizeof lending_, offsetof(StartsHeader, lending)) ==
           static_cast<ssize_t>(sizeof lending_);
}

void FileLender::finish()
{
    if (thread_.joinable()) {
        thread_.request_stop();
        ::shutdown(socket_.get(), SHUT_RDWR);  // accept ends
        thread_.join();
    }
    socket_.reset();
}

void FileLender::work(const std::stop_token& stop)
{
    while (!stop.stop_requested()) {
        sys::UniqueFd connection{::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
        try {
            if (connection.valid()) {
                answer(sys::Channel{std::move(connection)});
                continue;
            }
        } catch (const std::bad_alloc&) {  // then that one gets no answer
        }
        constexpr std::chrono::milliseconds pause{10};
        std::this_thread::sleep_for(pause);  // no descriptor or memory, for the moment
    }
}

void FileLender::answer(sys::Channel channel) const
{
    std::array<char, sizeof(FileRequest)> buffer{};
    const auto message = channel.receive(buffer, longest_asking);
    FileRequest request;
    if (!message || message->bytes.size() != sizeof request) {
        return;
    }
    std::memcpy(&request, message->bytes.data(), sizeof request);
    if (request.secret != lending_.asking) {
        return;
    }
    const sys::UniqueFd file = open(request, number_of_peer(channel.fd()));
    const FileAnswer answer{.secret = lending_.answering,
                            .problem = file.valid() ? 0U : static_cast<std::uint32_t>(errno)};
    static_cast<void>(channel.send(bytes_of(answer), file.valid() ? std::optional{file.get()} : std::nullopt));
}

sys::UniqueFd FileLender::open(const FileRequest& request, std::optional<std::uint64_t> process) const
{
    const std::string name{request.name, ::strnlen(request.name, sizeof request.name)};
    if (!is_lent(name)) {
        errno = EINVAL;
        return {};
    }
    if (!process || process != base::parse_number(name.substr(0, name.find('.')))) {
        errno = EPERM;  // the secret is the whole program's, and another process's file is not this one's to write
        return {};
    }
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (request.is_new != 0 ? O_CREAT | O_EXCL : 0);
    return sys::UniqueFd{::open((folder_ + "/" + name).c_str(), flags, 0600)};
}

}  // namespace memsweep::trace
