#include "core/sys/file_text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>

#include "core/sys/descriptor.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;

TEST_CASE("a field is found by its whole name at the start of a line", "[unit]")
{
    constexpr std::string_view text =
        "VmRSSx:\t 1 kB\n VmRSS: 2 kB\nVmRSS:\t   1644 kB\nmodel name\t: AMD EPYC\nempty:\n";
    CHECK(sys::find_field(text, "VmRSS") == "1644 kB");
    CHECK(sys::find_kib_field(text, "VmRSS") == 1644 * 1024);
    CHECK(sys::find_field(text, "model name") == "AMD EPYC");
    CHECK(sys::find_field(text, "empty") == "");
    CHECK_FALSE(sys::find_field(text, "model"));
    CHECK_FALSE(sys::find_field("", "VmRSS"));
}

TEST_CASE("a number that the end of the text may have cut is no number", "[unit]")
{
    CHECK_FALSE(sys::find_kib_field("VmRSS:\t 16", "VmRSS"));
    CHECK_FALSE(sys::find_kib_field("VmRSS:\t 1644 kB", "VmRSS"));
    CHECK(sys::find_kib_field("VmRSS:\t 1644 kB\n", "VmRSS") == 1644 * 1024);
}

TEST_CASE("what is no size in kB is refused", "[unit]")
{
    for (const char* const text : {"a: 12\n", "a: -1 kB\n", "a: 12 MB\n", "a: kB\n", "a: 1 2 kB\n", "a: 0x1 kB\n",
                                   "a: 99999999999999999999 kB\n", "a: 18446744073709551615 kB\n"}) {
        CAPTURE(text);
        CHECK(sys::find_kib_field(text, "a").value_or(0) == (text == std::string_view{"a: 1 2 kB\n"} ? 1024U : 0U));
    }
}

TEST_CASE("counters of memory.stat are found by word", "[unit]")
{
    constexpr std::string_view stat = "total_inactive_file 7\ninactive_file 229244928\ninactive_file_x 3";
    CHECK(sys::find_counter(stat, "inactive_file") == 229244928);
    CHECK(sys::find_counter(stat, "inactive_file_x") == 3);
    CHECK_FALSE(sys::find_counter(stat, "file"));
}

TEST_CASE("lists of processors and nodes", "[unit]")
{
    using List = std::vector<std::uint32_t>;
    CHECK(sys::parse_list("0-3,8") == List{0, 1, 2, 3, 8});
    CHECK(sys::parse_list("7") == List{7});
    CHECK(sys::parse_list("0-1,8,10-11") == List{0, 1, 8, 10, 11});
    CHECK(sys::parse_list("").value() == List{});
    for (const char* wrong : {"3-1", "a", "1-", "-1", "0-99999999", ",2", "0,,1", "0;1"}) {
        INFO(wrong);
        CHECK_FALSE(sys::parse_list(wrong));
    }
}

TEST_CASE("kernel files are read whole, and missing ones are empty", "[unit]")
{
    const tests::TempTree tree;
    const std::string large(100'000, 'x');
    CHECK(sys::read_kernel_text(tree.add("large", large)) == large);
    CHECK(sys::read_word(tree.add("word", " madvise \n")) == "madvise");
    CHECK(sys::read_word(tree.path("missing")).empty());
    CHECK_FALSE(sys::read_kernel_text(tree.path("missing")));
    CHECK_FALSE(sys::read_kernel_text(tree.root()));
}

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
    const std::string odd{"a\x01"
                          "b\r\n\xff"};
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

TEST_CASE("a zero byte ends the reading, and is named by its place", "[unit]")
{
    const tests::TempTree tree;
    const std::string path = tree.add("holes", std::string{"{\"a\": \0", 7} + std::string(1U << 20U, '\0'));
    CHECK(base::describe(sys::read_file(path, 1U << 30U).error()) == path + ": is no text: byte 7 is a zero");
}

TEST_CASE("a FIFO is waited for, but not for ever", "[machine]")
{
    const tests::TempTree tree;
    const std::string path = tree.path("fifo");
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    {
        std::jthread writer{[&] {
            const sys::UniqueFd end{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
            static_cast<void>(::write(end.get(), "hello", 5) < 0);
        }};
        CHECK(sys::read_file(path, 100) == "hello");
    }
    const auto nobody = sys::open_input(path);
    REQUIRE_FALSE(nobody);
    CHECK(nobody.error().code == base::ErrorCode::timeout);
    CHECK(base::describe(nobody.error()).starts_with(path + ": nobody has opened this FIFO"));
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
