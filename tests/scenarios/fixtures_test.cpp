// Every file in scenarios/catalog and fixtures/good satisfies the loader and the schema; every file in fixtures/bad
// yields exactly the errors that it ends with ("// expect: LINE:COLUMN: MESSAGE"), and fails the schema too unless it
// says
// "// schema: accepts", where JSON Schema cannot express the rule.
#include <sstream>

#include <fmt/format.h>

#include "core/model/plan.hpp"
#include "scenarios/reader/surroundings.hpp"
#include "tests/scenarios/schema_check.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

std::string read(const std::string& path)
{
    auto text = scenarios::read_text_file(path);
    REQUIRE(text.has_value());
    return std::move(*text);
}

std::vector<std::string> good_files()
{
    auto files = json_files(fixture_path("good"));
    const auto catalog = json_files(source_path("scenarios/catalog"));
    files.insert(files.end(), catalog.begin(), catalog.end());
    return files;
}

std::string lines_of(const std::vector<base::Error>& errors, const std::string& name)
{
    std::string lines;
    for (const base::Error& error : errors) {
        const std::string line = describe(error);
        lines += (line.starts_with(name + ":") ? line.substr(name.size() + 1) : line) + "\n";
    }
    return lines;
}

std::string expected_lines(const std::string& text)
{
    constexpr std::string_view mark = "// expect: ";
    std::string lines;
    std::istringstream stream{text};
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with(mark)) {
            lines += line.substr(mark.size()) + "\n";
        }
    }
    return lines;
}

}  // namespace

TEST_CASE("catalog and good fixtures pass the loader and the schema", "[unit]")
{
    scenarios::Surroundings surroundings = fake_surroundings();
    surroundings.read_file = scenarios::read_text_file;
    for (const std::string& path : good_files()) {
        INFO(path);
        const std::string text = read(path);
        const auto plan = scenarios::load_text(path, text, {}, surroundings);
        CHECK(lines_of(plan ? std::vector<base::Error>{} : plan.error(), path) == "");
        CHECK((plan && !plan->cases.empty()));
        CHECK(schema_errors(text) == "");
    }
}

TEST_CASE("each bad fixture yields exactly its errors, and the schema agrees where it can", "[unit]")
{
    const auto files = json_files(fixture_path("bad"));
    REQUIRE(files.size() > 15);
    for (const std::string& path : files) {
        INFO(path);
        const std::string name = "bad/" + path.substr(path.rfind('/') + 1);
        const std::string text = read(path);
        const auto plan = scenarios::load(name, {}, fake_surroundings());
        REQUIRE_FALSE(plan.has_value());
        CHECK(lines_of(plan.error(), name) == expected_lines(text));
        const bool schema_accepts = text.find("// schema: accepts") != std::string::npos;
        CHECK(schema_errors(text).empty() == schema_accepts);
    }
}

}  // namespace memsweep::test
