#include "core/sys/file_text.hpp"

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

TEST_CASE("lists of cpus and nodes are counted", "[unit]")
{
    CHECK(sys::count_list("0-1") == 2);
    CHECK(sys::count_list("0") == 1);
    CHECK(sys::count_list("0-3,8,10-11\n") == 7);
    CHECK(sys::count_list("1023") == 1);
    for (const char* const bad : {"", "\n", "a", "3-1", "1-", "-1", "0,,1", "0;1"}) {
        CAPTURE(bad);
        CHECK_FALSE(sys::count_list(bad));
    }
}

TEST_CASE("lists of processors and nodes", "[unit]")
{
    using List = std::vector<std::uint32_t>;
    CHECK(sys::parse_list("0-3,8") == List{0, 1, 2, 3, 8});
    CHECK(sys::parse_list("7") == List{7});
    CHECK(sys::parse_list("").value() == List{});
    for (const char* wrong : {"3-1", "a", "1-", "-1", "0-99999999", ",2"}) {
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
