#include "core/sys/interprocess.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

#include "core/sys/clock.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/allocation_count.hpp"
#include "tests/sys/disposition.hpp"
#include "tests/sys/helper_role.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;
using namespace std::chrono_literals;

namespace {

std::pair<sys::Channel, sys::Channel> connected()
{
    auto ends = sys::Channel::pair();
    REQUIRE(ends);
    return std::move(*ends);
}

}  // namespace

TEST_CASE("messages arrive whole, in order and apart", "[machine]")
{
    auto [a, b] = connected();
    REQUIRE(a.send("one"));
    REQUIRE(a.send(std::string(1000, 'x')));
    REQUIRE(b.send("back"));
    std::array<char, 2000> buffer{};
    CHECK(b.receive(buffer, 0s)->bytes == "one");
    CHECK(b.receive(buffer, std::nullopt)->bytes == std::string(1000, 'x'));
    CHECK(a.receive(buffer, 1s)->bytes == "back");
    CHECK((::fcntl(a.fd(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("waiting ends when the time is over, not earlier", "[machine]")
{
    auto [a, b] = connected();
    std::array<char, 8> buffer{};
    const sys::SystemClock clock;
    const auto begin = clock.now();
    const auto late = b.receive(buffer, 20ms);
    REQUIRE(late);
    CHECK(clock.now() - begin >= 20ms);
    CHECK(late->timed_out);
    CHECK_FALSE(late->closed);
    CHECK(late->bytes.empty());
    CHECK(b.receive(buffer, -1s)->timed_out);
    REQUIRE(a.send("x"));
    CHECK(b.receive(buffer, std::chrono::nanoseconds::max())->bytes == "x");
}

TEST_CASE("signals do not disturb a wait", "[machine]")
{
    const tests::Disposition noted{SIGUSR1, [](int) {}};
    auto [a, b] = connected();
    const auto waiter = ::pthread_self();
    const bool bounded = GENERATE(true, false);
    std::thread disturber{[waiter, &a = a] {
        for (int i = 0; i < 5; ++i) {
            std::this_thread::sleep_for(2ms);
            ::pthread_kill(waiter, SIGUSR1);
        }
        static_cast<void>(a.send("at last"));
    }};
    std::array<char, 8> buffer{};
    const auto message = b.receive(buffer, bounded ? std::optional<std::chrono::nanoseconds>{30s} : std::nullopt);
    disturber.join();
    REQUIRE(message);
    CHECK(message->bytes == "at last");
}

TEST_CASE("a closed peer is seen after its last message, and sending to it is an error, not a signal", "[machine]")
{
    auto ends = sys::Channel::pair();
    REQUIRE(ends);
    std::array<char, 8> buffer{};
    {
        const sys::Channel peer{std::move(ends->second)};
        REQUIRE(ends->first.send("unread"));
        REQUIRE(sys::Channel{::dup(peer.fd())}.send("last"));
    }
    CHECK(ends->first.receive(buffer, 1s)->bytes == "last");
    const auto end = ends->first.receive(buffer, std::nullopt);
    REQUIRE(end);
    CHECK(end->closed);
    CHECK_FALSE(end->timed_out);
    CHECK(ends->first.receive(buffer, 1s)->closed);
    const tests::Disposition deadly{SIGPIPE, SIG_DFL};
    const auto sent = ends->first.send("anyone?");
    REQUIRE_FALSE(sent);
    CHECK(sent.error().code == base::ErrorCode::worker);
}

TEST_CASE("a descriptor travels with a message and is the same file", "[machine]")
{
    const tests::TempTree tree;
    auto [a, b] = connected();
    {
        const sys::UniqueFd file{::open(tree.add("file", "hello").c_str(), O_RDONLY | O_CLOEXEC)};
        REQUIRE(a.send("file", file.get()));
    }
    std::array<char, 8> buffer{};
    const auto message = b.receive(buffer, 1s);
    REQUIRE(message);
    REQUIRE(message->fd.valid());
    CHECK((::fcntl(message->fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(::read(message->fd.get(), buffer.data(), buffer.size()) == 5);
    REQUIRE(a.send("none"));
    CHECK_FALSE(b.receive(buffer, 1s)->fd.valid());
}

TEST_CASE("what is not in the protocol is an error", "[machine]")
{
    auto [a, b] = connected();
    std::array<char, 4> buffer{};
    CHECK(a.send("").error().code == base::ErrorCode::invalid_input);
    REQUIRE(a.send("too long"));
    CHECK(b.receive(buffer, 1s).error().code == base::ErrorCode::worker);
    CHECK_FALSE(a.send(std::string(8U << 20, 'x')));
    CHECK_FALSE(a.send("bad fd", 1'000'000));
    CHECK_FALSE(sys::Channel{-1}.receive(buffer, std::nullopt));
}

TEST_CASE("more descriptors than one are refused and none leaks", "[machine]")
{
    auto [a, b] = connected();
    const sys::UniqueFd before{::dup(0)};
    std::array<int, 2> fds{a.fd(), b.fd()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fds)> control{};
    char byte = 'x';
    iovec part{&byte, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fds);
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
    REQUIRE(::sendmsg(a.fd(), &message, 0) == 1);
    std::array<char, 4> buffer{};
    CHECK_FALSE(b.receive(buffer, 1s));
    const sys::UniqueFd after{::dup(0)};
    CHECK(after.get() == before.get() + 1);
}

TEST_CASE("talking allocates nothing", "[machine]")
{
    auto [a, b] = connected();
    std::array<char, 8> buffer{};
    const auto before = tests::allocation_count();
    const bool sent = a.send("x", b.fd()).has_value();
    const bool received = b.receive(buffer, 1s).has_value() && b.receive(buffer, 0s).has_value();
    const auto after = tests::allocation_count();
    CHECK((sent && received));
    CHECK(after == before);
}

TEST_CASE("a shared region is zeros, of the size asked for, and keeps its place when moved", "[machine]")
{
    auto region = sys::SharedRegion::create(10'000, "test");
    REQUIRE(region);
    CHECK(region->size() == 10'000);
    CHECK(region->data<std::array<char, 10'000>>()->back() == 0);
    auto* const place = region->data<int>();
    *place = 7;
    sys::SharedRegion moved{std::move(*region)};
    CHECK(moved.data<int>() == place);
    CHECK(*moved.data<int>() == 7);
}

TEST_CASE("two mappings of one region are the same memory", "[machine]")
{
    auto region = sys::SharedRegion::create(4096, "test");
    REQUIRE(region);
    auto second = sys::SharedRegion::map(sys::UniqueFd{::dup(region->fd())}, 4096);
    REQUIRE(second);
    CHECK(second->size() == 4096);
    *region->data<int>() = 42;
    CHECK(*second->data<int>() == 42);
}

TEST_CASE("a region's size is fixed, and it is closed on exec", "[machine]")
{
    const auto region = sys::SharedRegion::create(8192, "test");
    REQUIRE(region);
    CHECK(::ftruncate(region->fd(), 10) != 0);
    CHECK(::ftruncate(region->fd(), 100'000) != 0);
    CHECK((::fcntl(region->fd(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("a region that is empty, too small or no memory is an error", "[machine]")
{
    CHECK_FALSE(sys::SharedRegion::create(0, "test"));
    CHECK(sys::SharedRegion::create(~0ULL, "test").error().code == base::ErrorCode::invalid_input);
    CHECK_FALSE(sys::SharedRegion::map(sys::UniqueFd{}));
    const auto region = sys::SharedRegion::create(100, "test");
    REQUIRE(region);
    const auto small = sys::SharedRegion::map(sys::UniqueFd{::dup(region->fd())}, 101);
    REQUIRE_FALSE(small);
    CHECK(small.error().message.find("100 bytes, at least 101") != std::string::npos);
}

TEST_CASE("another process works in a region that it was sent", "[machine]")
{
    auto ends = sys::Channel::pair();
    auto region = sys::SharedRegion::create(4096, "test");
    REQUIRE((ends && region));
    *region->data<int>() = 41;
    auto child = sys::ChildProcess::spawn(tests::helper("share", ends->second.fd()));
    REQUIRE(child);
    REQUIRE(ends->first.send("here", region->fd()));
    std::array<char, 16> buffer{};
    const auto answer = ends->first.receive(buffer, 30s);
    REQUIRE(answer);
    CHECK(answer->bytes == "done");
    CHECK(*region->data<int>() == 42);
}
