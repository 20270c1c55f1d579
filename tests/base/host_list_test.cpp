#include "core/base/host_list.hpp"

#include "tests/support/catch.hpp"

using memsweep::base::expand_host_list;
using Names = std::vector<std::string>;

TEST_CASE("host lists are read as Slurm writes them", "[unit]")
{
    CHECK(expand_host_list("n1").value() == Names{"n1"});
    CHECK(expand_host_list("n[1-3]").value() == Names{"n1", "n2", "n3"});
    CHECK(expand_host_list("n[008-010,12],login").value() == Names{"n008", "n009", "n010", "n12", "login"});
    CHECK(expand_host_list("r[1-2]n[1-2]-ib").value() == Names{"r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib"});
    CHECK(expand_host_list("a,b").value() == Names{"a", "b"});
    CHECK(expand_host_list("n[00001-10000]").value().size() == 10000);
}

TEST_CASE("what is no host list is refused", "[unit]")
{
    for (const char* text : {"", ",", "a,", "n[1", "n1]", "n[[1]]", "n[3-1]", "n[a-b]", "n[]", "n[1-]", "n[1-99999999]",
                             "n[1-1000][1-1000][1-1000]", "-1", "+5", "a,-1", "a, b", "a\tb",
                             "n[18446744073709551615-18446744073709551616]"}) {
        INFO(text);
        CHECK_FALSE(expand_host_list(text));
    }
}
