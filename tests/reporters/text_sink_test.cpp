#include <algorithm>
#include <vector>

#include "reporters/text/text_sink.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {

TEST_CASE("a sink passes text on in pieces and keeps its order", "[unit]")
{
    std::vector<std::string> pieces;
    TextSink sink{[&](std::string_view piece) {
        pieces.emplace_back(piece);
        return true;
    }};
    std::string all;
    for (int i = 0; i < 100'000; ++i) {
        sink.print("{},", i);
        all += std::to_string(i) + ",";
    }
    CHECK(sink.finish());
    CHECK(pieces.size() > 5);
    CHECK(std::ranges::all_of(pieces, [](const std::string& piece) { return piece.size() < (65 << 10); }));
    std::string joined;
    std::ranges::for_each(pieces, [&](const std::string& piece) { joined += piece; });
    CHECK((joined == all));
}

TEST_CASE("a sink offers nothing more once a piece was refused, and says so", "[unit]")
{
    int offered = 0;
    TextSink sink{[&](std::string_view) { return ++offered < 2; }};
    for (int i = 0; i < 10; ++i) {
        sink.add(std::string(100'000, 'x'));
    }
    CHECK_FALSE(sink.finish());
    CHECK(offered == 2);
}

}  // namespace memsweep::reporters
