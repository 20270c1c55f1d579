// Every key of the format stands in a scenario of the catalog or in a file of configs/: an option that nothing shows is
// one that nobody finds.
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/surroundings.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

using nlohmann::json;

// A reference that the program does not hold cannot be dropped without making the case fail, which those of the catalog
// do not: tests/app/test_release_modes.py shows it. Being idle for seconds would only make those of the catalog slow:
// tests/app/test_replay.py shows it.
const std::set<std::string> shown_elsewhere{"step: release.target", "step: replay.settle"};

class Usage {
  public:
    void add_file(const json& file)
    {
        const std::string format = file.value("format", "");
        if (format == "memsweep-profile") {
            add("profile", file);
            add("release", file.value("release", json::object()));
        } else if (format == "memsweep-scenario") {
            add("scenario", file);
            add_scenario(file);
        } else if (format.empty()) {
            add("settings", file);
            add("series", file.value("series", json::object()));
        }
    }

    [[nodiscard]] bool has(const std::string& key) const { return used_.contains(key); }

  private:
    void add(std::string_view section, const json& object)
    {
        for (const auto& member : object.items()) {
            used_.insert(fmt::format("{}.{}", section, member.key()));
        }
    }

    void add_scenario(const json& file)
    {
        const json none = json::object();
        for (const scenarios::OptionSection& section : scenarios::option_sections()) {
            if (const auto found = file.find(section.name); found != file.end() && found->is_object()) {
                add(section.name, *found);
            }
        }
        const json memory = file.value("memory", none);
        add("numa", memory.value("numa", none));
        add("pool", memory.value("pool", none));
        add("memory.trim", memory.value("trim", none));
        const json allocators = file.value("allocators", none);
        for (const auto& [allocator, settings] : allocators.items()) {
            add(fmt::format("allocators: {}", allocator), settings);
        }
        for (const json& axis : file.value("axes", none)) {
            add("axes: range", axis.is_object() ? axis : none);
        }
        for (const json& claim : file.value("assert", json::array())) {
            add("assert", claim);
        }
        add_steps(file.value("steps", json::array()));
    }

    void add_steps(const json& steps)
    {
        for (const json& step : steps) {
            add("step", step);
            add(fmt::format("step: {}", step.value("op", "")), step);
            add_steps(step.value("steps", json::array()));
            for (const json& transfer : step.value("transfers", json::array())) {
                add("transfer", transfer);
            }
        }
    }

    std::set<std::string> used_;
};

}  // namespace

TEST_CASE("every key is used by a file of the catalog or of configs", "[unit]")
{
    Usage usage;
    for (const char* folder : {"scenarios/catalog", "configs/run", "configs/runtimes"}) {
        for (const std::string& path : json_files(source_path(folder))) {
            const auto text = scenarios::read_text_file(path);
            REQUIRE(text.has_value());
            usage.add_file(json::parse(*text, nullptr, true, true));
        }
    }
    for (const scenarios::OptionSection& section : scenarios::option_sections()) {
        for (const scenarios::OptionInfo& option : section.options) {
            const std::string key = fmt::format("{}.{}", section.name, option.name);
            INFO(key);
            CHECK(usage.has(key) != shown_elsewhere.contains(key));
        }
    }
}

}  // namespace memsweep::test
