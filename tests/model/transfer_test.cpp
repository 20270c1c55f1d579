#include "core/model/transfer.hpp"

#include "tests/support/catch.hpp"

using namespace memsweep;
using model::parse_transfer;

TEST_CASE("transfers are read and written in the same words", "[unit]")
{
    for (const char* text :
         {"host -> cpu -> host", "host@node0 -> cpu0 -> host@node1", "host:pinned@node0 -> gpu0.ce -> gpu0",
          "gpu1 -> gpu1.ce3 -> gpu0", "host:4k -> cpu -> null", "null -> cpu2 -> host:hugetlb_1g@node2",
          "host:thp -> gpu7.sm -> gpu7", "host:write_combined -> gpu0.ce -> gpu0",
          "rank1:host@node0 -> cpu -> rank0:host:pinned", "rank3:gpu1 -> gpu1.ce -> null", "gpu* -> gpu*.ce -> gpu*",
          "host -> gpu*.ce2 -> gpu*", "gpu0 -> gpu0.sm -> gpu*"}) {
        INFO(text);
        const auto spec = parse_transfer(text);
        REQUIRE(spec);
        CHECK(model::to_text(*spec) == text);
    }
    CHECK(*parse_transfer("host->cpu->host") == *parse_transfer("  host  -> cpu ->\thost "));
    CHECK(model::is_on_host(*parse_transfer("host -> cpu -> null")));
    CHECK_FALSE(model::is_on_host(*parse_transfer("host -> gpu0.ce -> gpu0")));
    CHECK(parse_transfer("host:pinned@node3 -> cpu -> host")->src.host == model::HostKind::pinned);
    CHECK(model::names_rank(*parse_transfer("host -> cpu -> rank1:host")));
    CHECK_FALSE(model::names_rank(*parse_transfer("host -> cpu -> host")));
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
    CHECK_THAT(message("rank:host -> cpu -> host"), Catch::Contains("is no place"));
    CHECK_THAT(message("rank1host -> cpu -> host"), Catch::Contains("is no place"));
}

TEST_CASE("between ranks the mover may be left out", "[unit]")
{
    const auto words = [](std::string_view text) { return model::to_text(*parse_transfer(text)); };
    CHECK(words("rank0:host -> rank1:host@node0") == "rank0:host -> cpu -> rank1:host@node0");
    CHECK(words("rank2:host:pinned->rank0:gpu3") == "rank2:host:pinned -> gpu3.ce -> rank0:gpu3");
    CHECK(words("rank2:gpu1 -> rank0:gpu3") == "rank2:gpu1 -> gpu1.ce -> rank0:gpu3");
    CHECK_THAT(parse_transfer("host -> rank1:host").error().message, Catch::Contains("SRC -> EXE -> DST"));
    CHECK_THAT(parse_transfer("rank0:hots -> rank1:host").error().message,
               Catch::StartsWith("character 1: ") && Catch::Contains("is no place"));
    CHECK_THAT(parse_transfer("rank0:host -> rank1:host:pined").error().message, Catch::Contains("\"pinned\""));
}

TEST_CASE("what MPI cannot carry between ranks is said", "[unit]")
{
    const auto why = [](std::string_view text) { return model::rank_objection(*parse_transfer(text), 3); };
    CHECK(why("rank0:host -> rank2:host:pinned@node1").empty());
    CHECK(why("rank0:gpu0 -> gpu0.ce -> rank1:host").empty());
    CHECK_THAT(why("rank0:host -> rank3:host"), Catch::Contains("no rank 3: of 3 the last is rank 2"));
    CHECK_THAT(why("rank1:host -> rank1:host@node0"), Catch::Contains("both ends are rank 1"));
    CHECK_THAT(why("host -> cpu -> rank1:host"), Catch::Contains("both ends name theirs"));
    CHECK_THAT(why("rank0:host -> cpu -> null"), Catch::Contains("both ends name theirs"));
    CHECK_THAT(why("rank0:host -> rank1:gpu*"), Catch::Contains("a device has its number"));
    CHECK_THAT(why("rank0:host -> cpu1 -> rank1:host"), Catch::Contains("write cpu, not cpu1"));
    CHECK(model::is_met({}, 1));
    CHECK(model::is_met({.count = 2}, 2));
    CHECK_FALSE(model::is_met({.count = 2}, 3));
    CHECK(model::is_met({.count = 2, .or_more = true}, 3));
    CHECK_FALSE(model::is_met({.count = 4, .or_more = true}, 3));
    CHECK(model::to_text(model::RankNeed{.count = 4, .or_more = true}) == "4 or more MPI ranks");
}

TEST_CASE("what is no transfer is pointed at, and what was meant is said", "[unit]")
{
    const auto message = [](std::string_view text) { return parse_transfer(text).error().message; };
    CHECK_THAT(message("hots -> cpu -> host"), Catch::StartsWith("character 1: ") && Catch::Contains("\"host\""));
    CHECK_THAT(message("host -> cpu -> hots@node1"),
               Catch::StartsWith("character 16: ") && Catch::Contains("\"host\""));
    CHECK_THAT(message("host -> cup0 -> host"), Catch::StartsWith("character 9: ") && Catch::Contains("\"cpu\""));
    CHECK_THAT(message("host:pined@node0 -> cpu -> host"),
               Catch::StartsWith("character 6: ") && Catch::Contains("\"pinned\""));
    CHECK_THAT(message("host:@node0 -> cpu -> host"), Catch::Contains("write_combined"));
}

TEST_CASE("a mover belongs to an end", "[unit]")
{
    const auto message = [](std::string_view text) { return parse_transfer(text).error().message; };
    CHECK_THAT(message("host -> gpu1.ce -> gpu0"), Catch::Contains("one of them must be gpu1"));
    CHECK_THAT(message("host -> gpu0.sm -> host"), Catch::Contains("one of them must be gpu0"));
    CHECK_THAT(message("host -> cpu -> gpu2"), Catch::Contains("host -> gpu2.ce -> gpu2"));
    CHECK(parse_transfer("gpu0 -> gpu1.ce -> gpu1"));
    CHECK(parse_transfer("null -> gpu1.sm -> gpu1"));
}

TEST_CASE("gpu* is each device, or every pair of two", "[unit]")
{
    const auto spelled = [](const char* text, std::uint32_t devices) {
        std::string all;
        for (const model::TransferSpec& one : for_each_device(*parse_transfer(text), devices)) {
            CHECK_FALSE(names_each_device(one));
            CHECK(objection(one).empty());
            all += to_text(one) + "; ";
        }
        return all;
    };
    CHECK(spelled("host -> gpu*.ce -> gpu*", 2) == "host -> gpu0.ce -> gpu0; host -> gpu1.ce -> gpu1; ");
    CHECK(spelled("gpu* -> gpu*.sm -> host:pinned", 1) == "gpu0 -> gpu0.sm -> host:pinned; ");
    CHECK(spelled("gpu* -> gpu*.ce -> gpu*", 2) == "gpu0 -> gpu0.ce -> gpu1; gpu1 -> gpu1.ce -> gpu0; ");
    CHECK(spelled("gpu0 -> gpu0.ce -> gpu*", 3) == "gpu0 -> gpu0.ce -> gpu1; gpu0 -> gpu0.ce -> gpu2; ");
    CHECK(spelled("gpu* -> gpu0.ce -> gpu0", 2) == "gpu1 -> gpu0.ce -> gpu0; ");
    CHECK(spelled("gpu* -> gpu*.ce -> gpu*", 1).empty());
    CHECK(spelled("gpu0 -> gpu0.ce -> gpu0", 8) == "gpu0 -> gpu0.ce -> gpu0; ");
    CHECK(for_each_device(*parse_transfer("gpu* -> gpu*.ce -> gpu*"), 8).size() == 56);
    CHECK_FALSE(parse_transfer("host -> gpu*.ce -> gpu0"));
    CHECK_FALSE(parse_transfer("host -> gpu0.ce -> gpu*"));
    CHECK_FALSE(parse_transfer("host -> cpu* -> host"));
}
