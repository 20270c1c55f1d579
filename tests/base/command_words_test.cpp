#include "core/base/command_words.hpp"

#include "tests/support/catch.hpp"

using memsweep::base::command_words;
using Words = std::vector<std::string>;

TEST_CASE("a command as one text is taken apart as a shell does it, and nothing is expanded", "[unit]")
{
    CHECK(command_words("./app --input big.csv").value() == Words{"./app", "--input", "big.csv"});
    CHECK(command_words("  a\t'b c' \"d \\\"e\\\" \\n\" f\\ g ''").value() ==
          Words{"a", "b c", "d \"e\" \\n", "f g", ""});
    CHECK(command_words("echo $HOME *.c '|' cat").value() == Words{"echo", "$HOME", "*.c", "|", "cat"});
    CHECK(command_words("a'b'\"c\"d").value() == Words{"abcd"});
    CHECK_FALSE(command_words("a 'b"));
    CHECK_FALSE(command_words("a \"b\\\""));
    CHECK_FALSE(command_words(" \n"));
}

TEST_CASE("what a shell would act on is refused outside of quotes, wherever it stands", "[unit]")
{
    for (const char* const text : {"./a < in", "./a <in", "./a | wc", "./a|wc", "./a && ./b", "./a; ./b", "./a 2> log",
                                   "./a 2>&1", "./a &", "< in ./a", "\"./a\"<in", "./a 'b'>c"}) {
        INFO(text);
        const auto words = command_words(text);
        REQUIRE_FALSE(words);
        CHECK(words.error().message.find("--shell") != std::string::npos);
    }
    CHECK(command_words("./a '<' \"|\" \\; \\&\\& 'x>y'").value() == Words{"./a", "<", "|", ";", "&&", "x>y"});
}

TEST_CASE("a word that is an operator is found among words, and no other is", "[unit]")
{
    using memsweep::base::shell_operator;
    for (const char* const word :
         {"<", ">", ">>", "<<", "<<<", "|", "||", "&&", "&", ";", "2>", "2>>", "2>&1", ">&2", "&>", "0<&-", "|&"}) {
        INFO(word);
        CHECK(shell_operator({"./a", word, "in"}) == word);
        CHECK(shell_operator({word}) == word);
    }
    for (const char* const word :
         {"->", ">=", "<=", "<in", "a|b", "12", "", "&x", "2>x", "--", "x>", "=>", "&1", "&-x"}) {
        INFO(word);
        CHECK(shell_operator({"./a", word, "in"}).empty());
    }
    CHECK(shell_operator({"find", ".", "-exec", "rm", "{}", ";"}).empty());
    CHECK(shell_operator({"find", ".", "-exec", "rm", "{}", ";", "|", "wc"}) == "|");
    CHECK(shell_operator({"./a", ";", "./b"}) == ";");
}

TEST_CASE("a word is written as a shell and this reader take it for one", "[unit]")
{
    CHECK(memsweep::base::shell_word("./app+x=1%") == "./app+x=1%");
    for (const std::string word : {"", "my prog", "it's", "$HOME", "a\tb", "\"", "~", "a;b"}) {
        CHECK(command_words(memsweep::base::shell_word(word)).value() == Words{word});
        CHECK(memsweep::base::shell_word(word).front() == '\'');
    }
}
