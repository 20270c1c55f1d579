#include "core/measure/multiple_testing.hpp"

#include "tests/measure/reference_vectors.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep::measure;

TEST_CASE("adjusted values follow Benjamini and Hochberg's definition", "[unit]")
{
    for (const AdjustmentVector& vector : adjustment_vectors) {
        const auto q = benjamini_hochberg(vector.p);
        REQUIRE(q.size() == vector.q.size());
        for (std::size_t i = 0; i < q.size(); ++i) {
            CHECK(agrees(q[i], vector.q[i]));
        }
    }
    CHECK(benjamini_hochberg({}).empty());
}
