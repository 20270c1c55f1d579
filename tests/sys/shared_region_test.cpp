#include "core/sys/interprocess.hpp"

#include <array>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/sys/helper_role.hpp"

using namespace memsweep;
using namespace std::chrono_literals;

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
