#include "core/base/command_words.hpp"

#include "tests/support/catch.hpp"

using memsweep::base::command_words;
using Words = std::vector<std::string>;

TEST_CASE("a command as one text is taken apart as a shell does it, and nothing is expanded", "[unit]")
{
    CHECK(command_words("./app --input big.csv").value() == Words{"./app", "--input", "big.csv"});
    CHECK(command_words("  a\t'b c' \"d \\\"e\\\" \\n\" f\\ g ''").value() ==
          Words{"a", "b c", "d \"e\" \\n", "f g", ""});
    CHECK(command_words("echo $HOME *.c | cat").value() == Words{"echo", "$HOME", "*.c", "|", "cat"});
    CHECK(command_words("a'b'\"c\"d").value() == Words{"abcd"});
    CHECK_FALSE(command_words("a 'b"));
    CHECK_FALSE(command_words("a \"b\\\""));
    CHECK_FALSE(command_words(" \n"));
}
