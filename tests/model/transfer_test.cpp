#include "core/model/transfer.hpp"

#include "tests/support/catch.hpp"

using namespace memsweep;
using model::parse_transfer;

TEST_CASE("transfers are read and written in the same words", "[unit]")
{
    for (const char* text :
         {"host -> cpu -> host", "host@node0 -> cpu0 -> host@node1", "host:pinned@node0 -> gpu0.ce -> gpu0",
          "gpu1 -> gpu1.ce3 -> gpu0", "host:4k -> cpu -> null", "null -> cpu2 -> host:hugetlb_1g@node2",
          "host:thp -> gpu7.sm -> gpu7"}) {
        INFO(text);
        const auto spec = parse_transfer(text);
        REQUIRE(spec);
        CHECK(model::to_text(spec->src) + " -> " + model::to_text(spec->exe) + " -> " + model::to_text(spec->dst) ==
              text);
    }
    CHECK(*parse_transfer("host->cpu->host") == *parse_transfer("  host  -> cpu ->\thost "));
    CHECK(model::is_on_host(*parse_transfer("host -> cpu -> null")));
    CHECK_FALSE(model::is_on_host(*parse_transfer("host -> gpu0.ce -> gpu0")));
    CHECK(parse_transfer("host:pinned@node3 -> cpu -> host")->src.host == model::HostKind::pinned);
}

TEST_CASE("what is no transfer is told by its wrong word", "[unit]")
{
    const auto message = [](std::string_view text) {
        const auto spec = parse_transfer(text);
        return spec ? std::string{"no error"} : spec.error().message;
    };
    CHECK_THAT(message("host"), Catch::Contains("SRC -> EXE -> DST"));
    CHECK_THAT(message("host -> cpu"), Catch::Contains("SRC -> EXE -> DST"));
    CHECK_THAT(message("host -> cpu -> host -> host"), Catch::Contains("SRC -> EXE -> DST"));
    CHECK_THAT(message("hots -> cpu -> host"), Catch::Contains("\"hots\" is no place"));
    CHECK_THAT(message("host:pined -> cpu -> host"), Catch::Contains("did you mean \"pinned\""));
    CHECK_THAT(message("host@node -> cpu -> host"), Catch::Contains("is no place"));
    CHECK_THAT(message("host@node-1 -> cpu -> host"), Catch::Contains("is no place"));
    CHECK_THAT(message("host@node99999999999 -> cpu -> host"), Catch::Contains("is no place"));
    CHECK_THAT(message("gpu -> cpu -> host"), Catch::Contains("is no place"));
    CHECK_THAT(message("gpu0 -> gpu.ce -> host"), Catch::Contains("moves nothing"));
    CHECK_THAT(message("gpu0 -> gpu0.dma -> host"), Catch::Contains("moves nothing"));
    CHECK_THAT(message("host -> cpuX -> host"), Catch::Contains("moves nothing"));
    CHECK_THAT(message("null -> cpu -> null"), Catch::Contains("moves nothing"));
    CHECK_THAT(message(" ->  -> "), Catch::Contains("is no place"));
}
