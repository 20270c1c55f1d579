#include "core/sys/file_text.hpp"

#include <array>
#include <string>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "core/sys/descriptor.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;

namespace {

// Puts another file in the place of standard input for a while.
class StandardInput {
  public:
    explicit StandardInput(const std::string& path) : before_{::dup(STDIN_FILENO)}
    {
        const sys::UniqueFd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
        ::dup2(file.get(), STDIN_FILENO);
    }
    StandardInput(const StandardInput&) = delete;
    StandardInput& operator=(const StandardInput&) = delete;
    ~StandardInput() { ::dup2(before_.get(), STDIN_FILENO); }

  private:
    sys::UniqueFd before_;
};

}  // namespace

TEST_CASE("a file is read whole, bytes as they are", "[unit]")
{
    const tests::TempTree tree;
    const std::string odd{"a\0b\r\n\xff", 6};
    CHECK(sys::read_file(tree.add("odd", odd), 100) == odd);
    CHECK(sys::read_file(tree.add("empty", ""), 0) == "");
    const std::string large(1'000'000, 'x');
    CHECK(sys::read_file(tree.add("large", large), 1'000'000) == large);
}

TEST_CASE("a file larger than allowed is an error that says the limit", "[unit]")
{
    const tests::TempTree tree;
    const auto text = sys::read_file(tree.add("file", std::string(4097, 'x')), 4096);
    REQUIRE_FALSE(text);
    CHECK(text.error().code == base::ErrorCode::invalid_input);
    CHECK(base::describe(text.error()) == tree.path("file") + ": larger than 4KiB, the most that is read here");
}

TEST_CASE("what has no size is bounded too", "[machine]")
{
    CHECK(sys::read_file("/dev/zero", 1000).error().code == base::ErrorCode::invalid_input);
    CHECK(sys::read_file("/dev/null", 0) == "");
    CHECK(sys::read_file("/proc/self/status", 1U << 16)->find("VmRSS") != std::string::npos);
}

TEST_CASE("what cannot be read says why", "[unit]")
{
    const tests::TempTree tree;
    CHECK(base::describe(sys::read_file(tree.path("missing"), 10).error()) ==
          tree.path("missing") + ": cannot read: No such file or directory");
    CHECK(base::describe(sys::read_file(tree.root(), 10).error()) == tree.root() + ": cannot read: Is a directory");
    CHECK(sys::read_file("", 10).error().code == base::ErrorCode::io);
}

TEST_CASE("a dash is standard input", "[unit]")
{
    const tests::TempTree tree;
    {
        const StandardInput input{tree.add("file", "hello")};
        CHECK(sys::read_file("-", 5) == "hello");
    }
    const StandardInput input{tree.path("file")};
    const auto text = sys::read_file("-", 4);
    REQUIRE_FALSE(text);
    CHECK(text.error().where == "standard input");
}

TEST_CASE("a pipe is read to its end", "[unit]")
{
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const sys::UniqueFd read{ends[0]};
    {
        const sys::UniqueFd write{ends[1]};
        REQUIRE(::write(write.get(), "hello", 5) == 5);
    }
    CHECK(sys::read_file("/proc/self/fd/" + std::to_string(read.get()), 100) == "hello");
}

TEST_CASE("a pipe that gives more than allowed is left in the middle", "[unit]")
{
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const sys::UniqueFd read{ends[0]};
    std::thread writer{[write = sys::UniqueFd{ends[1]}] {
        const std::string part(50'000, 'x');
        for (int i = 0; i < 3; ++i) {
            static_cast<void>(::write(write.get(), part.data(), part.size()) < 0);
        }
    }};
    const std::string path = "/proc/self/fd/" + std::to_string(read.get());
    const auto text = sys::read_file(path, 120'000);
    REQUIRE_FALSE(text);
    CHECK(text.error().code == base::ErrorCode::invalid_input);
    static_cast<void>(sys::read_file(path, 150'000));  // what is left, so that the writer comes to its end
    writer.join();
}
