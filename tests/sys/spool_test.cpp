#include "core/sys/spool.hpp"

#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "tests/support/catch.hpp"

using namespace memsweep;
using namespace std::chrono_literals;

namespace {

struct Pipe {
    Pipe()
    {
        std::array<int, 2> ends{};
        REQUIRE(::pipe(ends.data()) == 0);
        read_end.reset(ends[0]);
        write_end.reset(ends[1]);
    }
    void put(std::string_view text) const
    {
        REQUIRE(::write(write_end.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    }
    sys::UniqueFd read_end;
    sys::UniqueFd write_end;
};

bool always(std::string_view /*piece*/)
{
    return true;
}

std::string text_of(const sys::UniqueFd& file)
{
    std::array<char, 64> text{};
    const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
    REQUIRE(got >= 0);
    return {text.data(), static_cast<std::size_t>(got)};
}

}  // namespace

TEST_CASE("spool: what a pipe brings until its end can be read again and again", "[machine]")
{
    Pipe pipe;
    pipe.put("one ");
    std::thread writer{[&] {
        std::this_thread::sleep_for(20ms);
        pipe.put("two");
        pipe.write_end.reset();
    }};
    const auto copy = sys::spooled(pipe.read_end.get(), "p", {.silence = 60s}, always);
    writer.join();
    REQUIRE(copy);
    CHECK(text_of(*copy) == "one two");
    CHECK(text_of(*copy) == "one two");
}

TEST_CASE("spool: an open pipe that brings nothing, or nothing more, is no wait for ever", "[machine]")
{
    for (const char* const before : {"", "a part"}) {
        Pipe pipe;
        pipe.put(before);
        const auto copy = sys::spooled(pipe.read_end.get(), "p", {.silence = 10ms}, always);
        REQUIRE_FALSE(copy);
        CHECK(copy.error().code == base::ErrorCode::timeout);
        CHECK(copy.error().where == "p");
    }
}

TEST_CASE("spool: no more is copied than is allowed, or wanted", "[machine]")
{
    Pipe pipe;
    pipe.put("12345");
    const auto copy = sys::spooled(pipe.read_end.get(), "p", {.bytes = 4}, always);
    REQUIRE_FALSE(copy);
    CHECK(copy.error().code == base::ErrorCode::invalid_input);
    pipe.put("12345");
    const auto part = sys::spooled(pipe.read_end.get(), "p", {}, [](std::string_view) { return false; });
    REQUIRE(part);
    CHECK(text_of(*part) == "12345");
}
