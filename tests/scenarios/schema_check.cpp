#include "tests/scenarios/schema_check.hpp"

#include <nlohmann/json.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#pragma GCC diagnostic pop

#include "scenarios/reader/schema.hpp"

namespace memsweep::test {
namespace {

const valijson::Schema& scenario_schema()
{
    static const auto schema = [] {
        static valijson::Schema parsed;
        const auto document = nlohmann::json::parse(scenarios::scenario_schema());
        valijson::SchemaParser parser{valijson::SchemaParser::kDraft7};
        parser.populateSchema(valijson::adapters::NlohmannJsonAdapter{document}, parsed);
        return &parsed;
    }();
    return *schema;
}

}  // namespace

std::string schema_errors(std::string_view text)
{
    const auto document = nlohmann::json::parse(text.begin(), text.end(), nullptr, false, true);
    if (document.is_discarded()) {
        return "no JSON";
    }
    valijson::Validator validator;
    valijson::ValidationResults results;
    if (validator.validate(scenario_schema(), valijson::adapters::NlohmannJsonAdapter{document}, &results)) {
        return {};
    }
    std::string all;
    valijson::ValidationResults::Error error;
    while (results.popError(error) && all.size() < 2'000) {
        for (const std::string& part : error.context) {
            all += part;
        }
        all += ": " + error.description + "\n";
    }
    return all.empty() ? "invalid" : all;
}

}  // namespace memsweep::test
