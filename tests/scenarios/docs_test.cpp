// docs/scenario-format.md holds the option tables word for word. After a change, print them with
//   test_scenarios "[print-tables]"
// and put them in the place of the old ones.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/assertion.hpp"
#include "core/model/plan.hpp"
#include "scenarios/files.hpp"
#include "scenarios/options.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

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

std::vector<std::string> all_tables()
{
    std::vector<std::string> tables;
    for (const scenarios::OptionSection& section : scenarios::option_sections()) {
        if (!section.options.empty()) {
            tables.push_back(table(section.options));
        }
    }
    for (std::string names :
         {names_table<model::ResourceKind>(), names_table<model::PageKind>(),     names_table<model::NumaPolicy>(),
          names_table<model::PoolKind>(),     names_table<model::ClassScheme>(),  names_table<model::PoolTopology>(),
          names_table<model::Eviction>(),     names_table<model::ZeroRule>(),     names_table<model::ReleaseMode>(),
          names_table<model::Fallback>(),     names_table<model::PressureRule>(), names_table<model::Detection>(),
          names_table<model::DType>(),        names_table<model::Fill>(),         names_table<model::Touch>(),
          names_table<model::TrimHow>(),      names_table<model::PrefetchHow>(),  names_table<model::Order>(),
          names_table<model::Isolation>(),    names_table<model::Severity>(),     names_table<model::ReplayTouch>(),
          names_table<model::ReplaySpeed>(),  names_table<model::Strategy>(),     names_table<model::HostKind>()}) {
        tables.push_back(std::move(names));
    }
    return tables;
}

}  // namespace

TEST_CASE("the documentation holds every option table", "[unit]")
{
    const auto text = scenarios::read_text_file(source_path("docs/scenario-format.md"));
    REQUIRE(text.has_value());
    for (const std::string& expected : all_tables()) {
        INFO("missing from docs/scenario-format.md:\n" << expected);
        CHECK(text->find(expected) != std::string::npos);
    }
    for (const scenarios::OptionSection& section : scenarios::option_sections()) {
        INFO(section.name);
        CHECK((!section.name.starts_with("step: ") ||
               text->find("`" + section.name.substr(6) + "`") != std::string::npos));
    }
}

TEST_CASE("print the option tables", "[.][print-tables]")
{
    for (const std::string& one : all_tables()) {
        fmt::print("{}\n", one);
    }
}

}  // namespace memsweep::test
