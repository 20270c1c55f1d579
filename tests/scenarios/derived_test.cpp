// What follows from the option tables and is kept in the repository: the tables of docs/scenario-format.md, of which
// the manual page is made, and scenarios/schema/memsweep-scenario-1.schema.json. After a change of the rows
//
//     build/dev/test_scenarios "[derive]"
//
// writes both anew; the tests below hold them to the rows.
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/assertion.hpp"
#include "core/model/plan.hpp"
#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/fingerprint.hpp"
#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/schema.hpp"
#include "scenarios/reader/source_tree.hpp"
#include "scenarios/reader/surroundings.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/temp_tree.hpp"

namespace memsweep::test {
namespace {

using scenarios::OptionInfo;

std::string escaped(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        out += c == '|' ? std::string{"\\|"} : std::string{c};
    }
    return out;
}

std::string bounds(const OptionInfo& option)
{
    if (option.name == "headline") {
        return "those of `memsweep list metrics`";
    }
    if (option.choices != nullptr && option.name != "op") {
        return fmt::format("`{}`", fmt::join(option.choices(), "` `"));
    }
    if (!scenarios::has_bounds(option.kind)) {
        return {};
    }
    const auto bound = [&](std::uint64_t value) { return scenarios::format_bound(option.kind, value); };
    return option.max >= INT64_MAX ? fmt::format("from {}", bound(option.min))
                                   : fmt::format("{} to {}", bound(option.min), bound(option.max));
}

std::string row(const OptionInfo& option)
{
    const std::string fallback = option.required               ? "required"
                                 : option.default_text.empty() ? ""
                                                               : fmt::format("`{}`", option.default_text);
    return fmt::format("| `{}` | {} | {} | {} | {} |\n", option.name, scenarios::kind_name(option.kind), fallback,
                       bounds(option), escaped(option.help));
}

std::string table(std::span<const OptionInfo> options)
{
    std::string text = "| key | type | default | bounds or values | meaning |\n|---|---|---|---|---|\n";
    for (const OptionInfo& option : options) {
        text += row(option);
    }
    return text;
}

template <typename Enum>
std::string names_table()
{
    std::string text = "| name | meaning |\n|---|---|\n";
    for (const auto& entry : model::names<Enum>()) {
        text += fmt::format("| `{}` | {} |\n", entry.name, escaped(entry.meaning));
    }
    return text;
}

constexpr std::string_view document = "docs/scenario-format.md";
constexpr std::string_view schema_file = "scenarios/schema/memsweep-scenario-1.schema.json";

std::string read_source(std::string_view path)
{
    auto text = scenarios::read_text_file(source_path(path));
    REQUIRE(text.has_value());
    return *std::move(text);
}

// The text with the table behind the section's mark replaced by the one that the rows make.
std::string with_table(std::string text, std::string_view section, std::span<const OptionInfo> options)
{
    const std::string mark = fmt::format("<!-- keys of {} -->\n", section);
    const std::size_t at = text.find(mark);
    INFO(mark << "is missing from " << document);
    CHECK((at != std::string::npos || options.empty()));
    if (at == std::string::npos) {
        return text;
    }
    const std::size_t begin = at + mark.size();
    std::size_t end = begin;
    while (end < text.size() && text[end] == '|') {
        end = text.find('\n', end) + 1;
    }
    return text.replace(begin, end - begin, table(options));
}

std::string with_tables(std::string text)
{
    for (const scenarios::OptionSection& section : scenarios::option_sections()) {
        text = with_table(std::move(text), section.name, section.options);
    }
    return text;
}

// What the build makes of the document for memsweep-scenario(5).
std::string manual_of(std::string_view text)
{
    const tests::TempTree folder;
    folder.add("scenario-format.md", text);
    const std::string command =
        fmt::format("python3 '{}' '{}' --name memsweep-scenario --section 5 --date 2026-01-31 "
                    "--version 0 > '{}'",
                    source_path("scripts/manual_page.py"), folder.path("scenario-format.md"), folder.path("page"));
    REQUIRE(std::system(command.c_str()) == 0);
    return scenarios::read_text_file(folder.path("page")).value();
}

std::vector<std::string> all_names_tables()
{
    return {names_table<model::ResourceKind>(), names_table<model::PageKind>(),     names_table<model::NumaPolicy>(),
            names_table<model::PoolKind>(),     names_table<model::ClassScheme>(),  names_table<model::PoolTopology>(),
            names_table<model::Eviction>(),     names_table<model::ZeroRule>(),     names_table<model::ReleaseMode>(),
            names_table<model::Fallback>(),     names_table<model::PressureRule>(), names_table<model::Detection>(),
            names_table<model::DType>(),        names_table<model::Fill>(),         names_table<model::Touch>(),
            names_table<model::TrimHow>(),      names_table<model::PrefetchHow>(),  names_table<model::Order>(),
            names_table<model::Isolation>(),    names_table<model::Severity>(),     names_table<model::ReplayTouch>(),
            names_table<model::ReplaySpeed>(),  names_table<model::Strategy>(),     names_table<model::HostKind>(),
            names_table<model::Accounting>()};
}

}  // namespace

TEST_CASE("the documentation holds every option table", "[unit]")
{
    const std::string text = read_source(document);
    CHECK(with_tables(text) == text);
    for (const std::string& expected : all_names_tables()) {
        INFO("missing from " << document << ":\n" << expected);
        CHECK(text.find(expected) != std::string::npos);
    }
    for (const model::OperationInfo& operation : model::operations()) {
        CHECK(text.find(fmt::format("`{}`", operation.name)) != std::string::npos);
    }
}

TEST_CASE("the schema file is what the rows make", "[unit]")
{
    CHECK(read_source(schema_file) == scenarios::scenario_schema());
}

// A key of "release" that no row of the program has, bound to a member that has no key.
TEST_CASE("a row is all that a key needs", "[unit]")
{
    using Release = model::ReleaseSpec;
    scenarios::OptionTable<Release> planted = scenarios::release_table();
    planted.add(scenarios::rows::flag<&Release::modelled>("planted", "what the planted key is for"));
    scenarios::Diagnostics diagnostics;
    scenarios::Sources sources{diagnostics};
    const scenarios::Surroundings surroundings = fake_surroundings();
    const scenarios::Scope scope{surroundings};
    const auto read = [&](std::string_view text) {
        Release release;
        const scenarios::SourceNode* root = sources.add("t", text);
        REQUIRE(root != nullptr);
        scenarios::Fields fields{*root, "\"release\"", {scope, diagnostics}};
        fields.check(planted.options());
        fields.read(planted, release);
        return release;
    };
    const auto complaint = [&] { return diagnostics.sorted().back().message; };

    CHECK(read(R"({"mode": "leak", "planted": true})").modelled);
    CHECK_FALSE(read("{}").modelled);
    CHECK(diagnostics.count() == 0);
    read(R"({"planted": 7})");
    CHECK(complaint() == "\"planted\" must be true or false, not 7");
    read(R"({"plantet": true})");
    CHECK_THAT(complaint(), Catch::Contains("unknown key \"plantet\"") && Catch::Contains("planted"));

    const auto canonical = [](const scenarios::OptionTable<Release>& keys, const Release& object) {
        return scenarios::canonical_object(keys.options(), &object, &keys.plain());
    };
    Release release;
    const std::string before = canonical(scenarios::release_table(), release);
    CHECK(canonical(planted, release) == before);
    release.modelled = true;
    CHECK(canonical(planted, release) == R"({"mode":"refcount","planted":true})");

    CHECK_THAT(scenarios::object_schema_text("release", planted.options()),
               Catch::Contains("\"planted\": {") && Catch::Contains("What the planted key is for."));
    const auto cells = scenarios::option_cells("release", planted.options().back());
    REQUIRE(cells.size() == scenarios::option_columns.size());
    std::string listed;
    for (const model::Scalar& cell : cells) {
        listed += model::to_text(cell) + ";";
    }
    CHECK(listed == "release;planted;boolean;false;false;;;;;what the planted key is for;");

    const std::string documented = with_table(read_source(document), "release", planted.options());
    CHECK_THAT(documented, Catch::Contains("| `planted` | boolean | `false` |  | what the planted key is for |\n"));
    CHECK_THAT(
        manual_of(documented),
        Catch::Contains("\\fBplanted\\fR\ntype: boolean; default: \\fBfalse\\fR; what the planted key is for\n"));
}

TEST_CASE("write what follows from the option tables", "[.][derive]")
{
    const auto write = [](std::string_view path, std::string_view text) {
        std::ofstream{source_path(path), std::ios::binary} << text;
    };
    write(document, with_tables(read_source(document)));
    write(schema_file, scenarios::scenario_schema());
}

}  // namespace memsweep::test
