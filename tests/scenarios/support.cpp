#include "tests/scenarios/support.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/reader/surroundings.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

std::optional<std::string> fake_environment(const std::string& name)
{
    if (name == "ANSWER") {
        return "42";
    }
    if (name == "EMPTY") {
        return "";
    }
    if (name == "BINARY") {
        return "\xff\xfe";
    }
    return name == "LONG" ? std::optional{std::string(70'000, 'a')} : std::nullopt;
}

}  // namespace

std::string source_path(std::string_view relative)
{
    static const std::filesystem::path root{MEMSWEEP_SOURCE_DIR};
    return (root / relative).string();
}

std::string fixture_path(std::string_view relative)
{
    return source_path(fmt::format("tests/scenarios/fixtures/{}", relative));
}

scenarios::Surroundings fake_surroundings()
{
    static const scenarios::LookAtTrace look_at_trace = scenarios::asked_once(scenarios::trace_facts);
    scenarios::Surroundings fake;
    fake.look_at_trace = look_at_trace;
    fake.profile_folder = source_path("configs/runtimes");
    fake.ncpus = 4;
    fake.memory_bytes = 16ULL << 30U;
    fake.numa_nodes = 2;
    fake.environment = fake_environment;
    fake.read_file = [](const std::string& path) { return scenarios::read_text_file(fixture_path(path)); };
    return fake;
}

std::string scenario_text(std::string_view keys)
{
    return fmt::format(R"({{"format": "memsweep-scenario", "version": 1, "name": "t",
{}}})",
                       keys);
}

scenarios::Loaded load(std::string_view text, const scenarios::Overrides& overrides)
{
    return scenarios::load_text("t", text, overrides, fake_surroundings());
}

std::vector<std::string> errors_of(std::string_view text, const scenarios::Overrides& overrides)
{
    const auto loaded = load(text, overrides);
    std::vector<std::string> errors;
    if (!loaded) {
        for (const base::Error& error : loaded.error()) {
            const std::string described = describe(error);
            errors.push_back(described.starts_with("t:") ? described.substr(2) : described);
        }
    }
    return errors;
}

model::Plan plan_of(std::string_view text, const scenarios::Overrides& overrides)
{
    auto loaded = load(text, overrides);
    if (!loaded) {
        FAIL(fmt::format("{}", fmt::join(errors_of(text, overrides), "\n")));
    }
    return std::move(*loaded);
}

std::vector<std::string> json_files(const std::string& directory)
{
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator{directory}) {
        if (entry.path().extension() == ".json" || entry.path().extension() == ".jsonc") {
            files.push_back(entry.path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace memsweep::test
