// What `memsweep list scenarios` is told.
#include "scenarios/reader/loader.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {

TEST_CASE("a folder's scenarios are listed with their cases, broken ones with their errors", "[unit]")
{
    scenarios::Surroundings surroundings = fake_surroundings();
    surroundings.read_file = scenarios::read_text_file;
    const auto good = scenarios::list_catalog(fixture_path("good"), surroundings);
    REQUIRE(good.has_value());
    REQUIRE(good->size() == 4);
    CHECK((*good)[2].name == "everything");
    CHECK((*good)[2].cases == 14);
    CHECK((*good)[2].description.starts_with("Every key once"));
    CHECK((*good)[2].errors.empty());
    const auto bad = scenarios::list_catalog(fixture_path("bad"), surroundings);
    REQUIRE(bad.has_value());
    CHECK((*bad)[0].name == "a_list");
    CHECK((*bad)[0].errors.size() == 1);
    const auto missing = scenarios::list_catalog(fixture_path("no_such_folder"), surroundings);
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().code == base::ErrorCode::io);
}

}  // namespace memsweep::test
