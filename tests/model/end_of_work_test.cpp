#include "core/model/end_of_work.hpp"

#include "tests/support/catch.hpp"

namespace memsweep::model {

TEST_CASE("the sign that work is done reads back as it was written", "[unit]")
{
    for (const char* text : {"exit", "signal", "file:/run/ready", "file:a:b", "line:^ready in [0-9]+ ms$"}) {
        const auto end = parse_end_of_work(text);
        INFO(text);
        REQUIRE(end.has_value());
        CHECK(to_text(*end) == text);
    }
    for (const char* text : {"", "file", "file:", "line:", "line:(", "ready", "Exit"}) {
        INFO(text);
        CHECK_FALSE(parse_end_of_work(text).has_value());
    }
    CHECK(to_text(EndOfWork{}).empty());
}

}  // namespace memsweep::model
