#include "core/model/names.hpp"

#include <cstdint>

#include "core/model/specs.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::model {

enum class Lacking : std::uint8_t { first, second };
enum class Swapped : std::uint8_t { first, second };

template <>
inline constexpr auto name_table<Lacking> = std::to_array<Named<Lacking>>({{Lacking::first, "first", ""}});
template <>
inline constexpr auto name_table<Swapped> =
    std::to_array<Named<Swapped>>({{Swapped::second, "second", ""}, {Swapped::first, "first", ""}});

// names<Lacking>() would not compile.
static_assert(!is_complete<Lacking>());
static_assert(!is_complete<Swapped>());
static_assert(is_complete<ReleaseMode>());
static_assert(is_complete<ResourceKind>());

}  // namespace memsweep::model

TEST_CASE("a name is that of its row, and of no row where the value is no enumerator", "[unit]")
{
    using memsweep::model::ReleaseMode;
    for (const auto& row : memsweep::model::names<ReleaseMode>()) {
        CHECK(name_of(row.value) == row.name);
        CHECK(meaning_of(row.value) == row.meaning);
        CHECK(memsweep::model::value_of<ReleaseMode>(row.name) == row.value);
    }
    CHECK(name_of(static_cast<ReleaseMode>(memsweep::model::names<ReleaseMode>().size())) == "?");
}
