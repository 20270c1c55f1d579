// Which of several settings files wins. The messages are in fixtures/bad/includes.jsonc.
#include <map>

#include <fmt/format.h>

#include "core/model/plan.hpp"
#include "scenarios/reader/limits.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

using Files = std::map<std::string, std::string>;

scenarios::Loaded load_with(const Files& files, std::string_view keys)
{
    scenarios::Surroundings surroundings = fake_surroundings();
    surroundings.read_file = [&](const std::string& path) -> base::Expected<std::string> {
        const auto file = files.find(path);
        return file == files.end() ? base::Expected<std::string>{base::fail(base::ErrorCode::io, "no such file", path)}
                                   : file->second;
    };
    return scenarios::load_text("dir/sub/s.json",
                                scenario_text(fmt::format("{}, \"steps\": [{{\"op\": \"collect\"}}]", keys)), {},
                                surroundings);
}

}  // namespace

TEST_CASE("the including file wins, then the later file, then what they include", "[unit]")
{
    const Files files{
        {"dir/a.json",
         R"({"repetitions": 2, "warmup": 2, "timeout": "2s", "seed": 2, "order": "shuffled", "series": {"interval": "2ms"}})"},
        {"dir/sub/b.json", R"({"include": "deep/c.json", "warmup": 3, "timeout": "3s"})"},
        {"dir/sub/deep/c.json", R"({"include": "../../d.json", "timeout": "4s", "seed": 4})"},
        {"dir/d.json", R"({"seed": 5, "isolation": "none", "order": "sequential"})"},
    };
    const auto plan = load_with(files, R"("include": ["../a.json", "b.json"], "timeout": "1s")");
    REQUIRE(plan.has_value());
    CHECK(plan->settings.timeout == std::chrono::seconds{1});
    CHECK(plan->settings.warmup == 3);
    CHECK(plan->settings.seed == 4);
    CHECK(plan->settings.order == model::Order::sequential);
    CHECK(plan->settings.repetitions == 2);
    CHECK(plan->settings.isolation == model::Isolation::none);
    CHECK(plan->cases[0].series.interval == std::chrono::milliseconds{2});
}

TEST_CASE("a file may be included along two ways", "[unit]")
{
    const Files files{{"dir/sub/a.json", R"({"include": "c.json"})"},
                      {"dir/sub/b.json", R"({"include": "c.json"})"},
                      {"dir/sub/c.json", "{}"}};
    CHECK(load_with(files, R"("include": ["a.json", "b.json"])").has_value());
}

TEST_CASE("values of included files may use the scenario's variables", "[unit]")
{
    const Files files{{"dir/sub/a.json", R"({"repetitions": "${reps}"})"}};
    const auto plan = load_with(files, R"("include": "a.json", "variables": {"reps": 4})");
    REQUIRE(plan.has_value());
    CHECK(plan->settings.repetitions == 4);
}

TEST_CASE("includes end, whatever they name", "[unit]")
{
    Files chain;
    for (int i = 0; i < 20; ++i) {
        chain[fmt::format("dir/sub/{}.json", i)] = fmt::format(R"({{"include": "{}.json"}})", i + 1);
    }
    const auto deep = load_with(chain, R"("include": "0.json")");
    REQUIRE_FALSE(deep.has_value());
    CHECK(describe(deep.error().front()) == "dir/sub/7.json:1:13: includes deeper than 8 levels or more than 32 files");

    // Each file includes the next one ten times: 10^8 paths without a limit on files.
    Files fan;
    for (int i = 0; i < 8; ++i) {
        std::string list;
        for (int k = 0; k < 10; ++k) {
            list += fmt::format("{}\"{}.json\"", k == 0 ? "" : ", ", i + 1);
        }
        fan[fmt::format("dir/sub/{}.json", i)] = fmt::format(R"({{"include": [{}]}})", list);
    }
    fan["dir/sub/8.json"] = "{}";
    CHECK_FALSE(load_with(fan, R"("include": "0.json")").has_value());
}

}  // namespace memsweep::test
