#include "core/trace/file_lender.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "core/sys/interprocess.hpp"
#include "core/sys/left_behind.hpp"
#include "core/trace/format/start_layout.hpp"
#include "core/trace/unrecorded.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::trace {
namespace {

constexpr sys::PassingShape lending_folders{
    .before = "memsweep-lending-", .after = "", .tells_boot = false, .digits = 6};

Lending lending_in(const std::string& folder)
{
    std::ifstream file{starts_in(folder), std::ios::binary};
    StartsHeader header;
    REQUIRE(file.read(reinterpret_cast<char*>(&header), sizeof header));
    return header.lending;
}

// A name that this process may ask for.
std::string own(const std::string& rest)
{
    return std::to_string(::getpid()) + "." + rest;
}

struct Answered {
    std::uint32_t problem{};
    sys::UniqueFd file;
};

std::optional<sys::Channel> connect_to(const Lending& lending)
{
    sys::UniqueFd socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, lending.name, sizeof lending.name);
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + lending.name_bytes);
    const bool is_there = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), bytes) == 0;
    return is_there ? std::optional{sys::Channel{std::move(socket)}} : std::nullopt;
}

// Nothing: no answer came.
std::optional<Answered> ask(const Lending& lending, const LendingSecret& secret, const std::string& name, bool is_new)
{
    auto channel = connect_to(lending);
    REQUIRE(channel);
    FileRequest request{.secret = secret, .is_new = is_new ? 1U : 0U};
    std::memcpy(request.name, name.data(), name.size());
    REQUIRE(channel->send({reinterpret_cast<const char*>(&request), sizeof request}));
    std::array<char, sizeof(FileAnswer)> buffer{};
    auto message = channel->receive(buffer, std::chrono::seconds{60});
    REQUIRE(message);
    REQUIRE(!message->timed_out);
    if (message->closed) {
        return std::nullopt;
    }
    FileAnswer answer;
    REQUIRE(message->bytes.size() == sizeof answer);
    std::memcpy(&answer, message->bytes.data(), sizeof answer);
    CHECK(answer.secret == lending.answering);
    return Answered{answer.problem, std::move(message->fd)};
}

TEST_CASE("files of a recorder are lent, and no others", "[unit]")
{
    CHECK(is_lent("12.0.mst"));
    CHECK(is_lent("12.34.stacks"));
    CHECK(is_lent("1.0.count"));
    for (const char* const name : {"", "starts", "clock", ".mst", "1.mst", "1..mst", ".1.mst", "1.0.refused",
                                   "1.0.mst/", "1.0/../1.0.mst", "../1.0.mst", "1.0.mst.mst", "x1.0.mst"}) {
        INFO(name);
        CHECK(!is_lent(name));
    }
}

TEST_CASE("whoever knows the secret gets a file, made or opened again", "[unit]")
{
    const auto folder = sys::PassingFolder::make(lending_folders);
    REQUIRE(folder);
    make_starts(folder->path());
    FileLender lender{folder->path()};
    const Lending lending = lending_in(folder->path());
    REQUIRE(lending.name_bytes != 0);

    const auto made = ask(lending, lending.asking, own("0.mst"), true);
    REQUIRE(made);
    CHECK(made->problem == 0);
    struct stat lent {};
    struct stat there {};
    REQUIRE(::fstat(made->file.get(), &lent) == 0);
    REQUIRE(::stat((folder->path() + "/" + own("0.mst")).c_str(), &there) == 0);
    CHECK(lent.st_ino == there.st_ino);
    CHECK((there.st_mode & 0777U) == 0600U);
    CHECK((::fcntl(made->file.get(), F_GETFL) & O_ACCMODE) == O_RDWR);

    const auto twice = ask(lending, lending.asking, own("0.mst"), true);
    REQUIRE(twice);
    CHECK(twice->problem == EEXIST);
    CHECK(!twice->file.valid());
    const auto again = ask(lending, lending.asking, own("0.mst"), false);
    REQUIRE(again);
    REQUIRE(::fstat(again->file.get(), &lent) == 0);
    CHECK(lent.st_ino == there.st_ino);

    const auto other = ask(lending, lending.asking, "starts", false);
    REQUIRE(other);
    CHECK(other->problem == EINVAL);
    std::filesystem::create_symlink("/dev/null", folder->path() + "/" + own("1.mst"));
    const auto link = ask(lending, lending.asking, own("1.mst"), false);
    REQUIRE(link);
    CHECK(link->problem == ELOOP);

    CHECK(!ask(lending, LendingSecret{}, own("2.mst"), true));
    CHECK(!ask(lending, lending.answering, own("2.mst"), true));
    CHECK(!std::filesystem::exists(folder->path() + "/" + own("2.mst")));

    const auto of_another = ask(lending, lending.asking, "1.0.mst", true);
    REQUIRE(of_another);
    CHECK(of_another->problem == EPERM);
    CHECK(!std::filesystem::exists(folder->path() + "/1.0.mst"));

    lender.finish();
    CHECK(!connect_to(lending));
}

TEST_CASE("who connects and asks nothing holds up nobody for long", "[unit]")
{
    const auto folder = sys::PassingFolder::make(lending_folders);
    REQUIRE(folder);
    make_starts(folder->path());
    const FileLender lender{folder->path()};
    const Lending lending = lending_in(folder->path());
    const auto silent = connect_to(lending);
    REQUIRE(silent);
    auto talker = connect_to(lending);
    REQUIRE(talker);
    REQUIRE(talker->send("too short"));
    const auto made = ask(lending, lending.asking, own("0.count"), true);
    REQUIRE(made);
    CHECK(made->problem == 0);
}

TEST_CASE("who has no descriptor left lends nothing, and ends", "[unit]")
{
    const auto folder = sys::PassingFolder::make(lending_folders);
    REQUIRE(folder);
    make_starts(folder->path());
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    {
        FileLender lender{folder->path()};
        // The lender's thread has begun: UBSan makes a pipe where a type of its first steps is met, and fails without.
        const Lending lending = lending_in(folder->path());
        REQUIRE(ask(lending, lending.asking, own("0.mst"), true));
        const sys::UniqueFd next{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
        rlimit none = before;
        none.rlim_cur = static_cast<rlim_t>(next.get());
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
        CHECK(::open("/dev/null", O_RDONLY | O_CLOEXEC) == -1);
        lender.finish();
    }
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("without the file of the starts nothing is lent", "[unit]")
{
    const auto folder = sys::PassingFolder::make(lending_folders);
    REQUIRE(folder);
    FileLender lender{folder->path()};
    lender.finish();
    CHECK(std::filesystem::is_empty(folder->path()));
}

}  // namespace
}  // namespace memsweep::trace
