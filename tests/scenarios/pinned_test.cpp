// Canonical forms do not change by accident: a fingerprint for each file of the catalog and of configs/, and for texts
// that set every key, as they were when the canonical form was last changed on purpose.
#include <fstream>

#include <fmt/format.h>

#include "scenarios/reader/surroundings.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {

// fixtures/pinned/fingerprints.txt has "PATH CASES FINGERPRINT" lines. A scenario that is changed on purpose gets its
// new line from the message of this test; when many change, so has the canonical form: see fingerprint.hpp.
TEST_CASE("fingerprints are those that were pinned", "[unit]")
{
    scenarios::Surroundings surroundings = fake_surroundings();
    surroundings.read_file = scenarios::read_text_file;
    std::ifstream pinned{fixture_path("pinned/fingerprints.txt")};
    std::size_t files = 0;
    for (std::string line; std::getline(pinned, line); ++files) {
        const std::string path = line.substr(0, line.find(' '));
        const auto plan = scenarios::load(source_path(path), {}, surroundings);
        INFO(line);
        REQUIRE(plan.has_value());
        CHECK(fmt::format("{} {} {}", path, plan->cases.size(), plan->fingerprint) == line);
    }
    CHECK(files >= 60);
}

}  // namespace memsweep::test
