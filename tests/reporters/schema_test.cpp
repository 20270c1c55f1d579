#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reporters/json/result_json.hpp"
#include "tests/reporters/golden.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

namespace fs = std::filesystem;

constexpr const char* schema_path = "scenarios/schema/memsweep-result-1.schema.json";

bool python_has_jsonschema()
{
    return std::system("python3 -c 'import jsonschema' >/dev/null 2>&1") == 0;
}

class TemporaryFile {
  public:
    TemporaryFile(const std::string& name, const std::string& text)
        : path_{fs::temp_directory_path() / fmt::format("memsweep-{}-{}", name, std::random_device{}())}
    {
        std::ofstream{path_, std::ios::binary} << text;
    }
    ~TemporaryFile()
    {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    [[nodiscard]] std::string path() const { return path_.string(); }

  private:
    fs::path path_;
};

// What python3-jsonschema says: 0 valid, 1 not.
int validate(const std::string& document)
{
    const TemporaryFile schema{"schema", repository_file(schema_path)};
    const TemporaryFile instance{"result", document};
    const std::string script = "import json, sys, jsonschema; s, d = (json.load(open(p)) for p in sys.argv[1:]); "
                               "jsonschema.Draft7Validator.check_schema(s); "
                               "sys.exit(not jsonschema.Draft7Validator(s).is_valid(d))";
    const int status =
        std::system(fmt::format("python3 -c '{}' {} {}", script, schema.path(), instance.path()).c_str());
    return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("results follow their published schema", "[unit]")
{
    if (!python_has_jsonschema()) {
        WARN("python3-jsonschema is not installed: the schema of results was NOT checked");
        return;
    }
    CHECK(validate(repository_file("tests/golden/sample.json")) == 0);
    CHECK(validate(to_json(hostile_report())) == 0);
    CHECK(validate(to_json(model::RunReport{})) == 1);  // no start time: a run always has one

    auto wrong = nlohmann::ordered_json::parse(to_json(sample_report()));
    wrong["cases"][0]["metrics"]["wall_time"]["values"][0] = "0.1";
    CHECK(validate(wrong.dump()) == 1);
}

TEST_CASE("the schema names every key that is written", "[unit]")
{
    const std::string schema = repository_file(schema_path);
    const auto document = nlohmann::ordered_json::parse(to_json(sample_report()));
    const auto check_keys = [&](const nlohmann::ordered_json& object) {
        for (const auto& [key, value] : object.items()) {
            INFO(key);
            CHECK(schema.find("\"" + key + "\": ") != std::string::npos);
        }
    };
    const auto& one = document["cases"][0];
    for (const auto& object :
         {document, document["tool"], document["run"], document["run"]["scenario"], document["machine"], one,
          one["metrics"]["wall_time"], one["metrics"]["wall_time"]["summary"], one["points"][0], one["phases"][0],
          one["series"][0], document["assertions"][0], document["warnings"][0], document["summary"]}) {
        check_keys(object);
    }
}

}  // namespace memsweep::reporters
