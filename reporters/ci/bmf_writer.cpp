#include "reporters/ci/bmf_writer.hpp"

#include <cmath>

#include "reporters/ci/benchmark_names.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

// Lower-case letters and digits with single hyphens between them.
std::string slug(std::string_view name)
{
    std::string slug;
    for (const char c : name) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (is_letter || (c >= '0' && c <= '9')) {
            slug += is_letter ? static_cast<char>(c | 0x20) : c;
        } else if (!slug.empty() && slug.back() != '-') {
            slug += '-';
        }
    }
    if (slug.ends_with('-')) {
        slug.pop_back();
    }
    return slug.empty() ? "metric" : slug;
}

Json value_json(const model::Summary& summary)
{
    Json json = {{"value", summary.median}};
    if (summary.ci95 && std::isfinite((*summary.ci95)[0]) && std::isfinite((*summary.ci95)[1])) {
        json["lower_value"] = (*summary.ci95)[0];
        json["upper_value"] = (*summary.ci95)[1];
    }
    return json;
}

Json case_json(const model::CaseReport& report)
{
    std::vector<const model::Summary*> summaries;
    std::vector<std::string> slugs;
    for (const model::Metric& metric : report.metrics) {
        if (metric.summary && std::isfinite(metric.summary->median)) {
            summaries.push_back(&*metric.summary);
            slugs.push_back(slug(metric.name));
        }
    }
    slugs = unique_names(std::move(slugs), "-");
    Json json = Json::object();
    for (std::size_t i = 0; i < slugs.size(); ++i) {
        json[slugs[i]] = value_json(*summaries[i]);
    }
    return json;
}

// Short enough, with room for the number that tells equal beginnings apart.
std::vector<std::string> benchmark_names(const std::vector<NamedCase>& cases)
{
    constexpr std::size_t longest = 1000;
    std::vector<std::string> names;
    for (const NamedCase& one : cases) {
        names.push_back(one.name.substr(0, longest));
    }
    return unique_names(std::move(names));
}

}  // namespace

void write_bmf(const model::RunReport& report, TextSink& sink)
{
    const std::vector<NamedCase> cases = named_cases(report);
    const std::vector<std::string> names = benchmark_names(cases);
    sink.add("{");
    std::string_view before = "\n";
    for (std::size_t i = 0; i < cases.size(); ++i) {
        sink.print("{}{}: {}", before, compact(Json(names[i])), compact(case_json(*cases[i].report)));
        before = ",\n";
    }
    sink.add("\n}\n");
}

}  // namespace memsweep::reporters
