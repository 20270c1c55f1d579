#include "reporters/json/doctor_json.hpp"

#include <utility>

#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

using model::Fitness;
using model::MachineCheck;

constexpr int checkup_version = 1;

Json json_check(const MachineCheck& check)
{
    Json figures = Json::object();
    for (const model::Figure& figure : check.figures) {
        figures[figure.name] = {{"unit", json_text(model::name_of(figure.unit))}, {"value", json_number(figure.value)}};
    }
    return {{"name", json_text(check.name)},
            {"status", json_text(model::name_of(check.status))},
            {"value", json_text_or_null(check.value)},
            {"why", json_text(check.why)},
            {"command", json_text_or_null(check.command)},
            {"figures", std::move(figures)}};
}

}  // namespace

std::string to_json(const Checkup& checkup)
{
    Json checks = Json::array();
    for (const MachineCheck& check : checkup.checks) {
        checks.push_back(json_check(check));
    }
    Json summary = Json::object();
    for (const auto& status : model::names<Fitness>()) {
        summary[std::string{status.name}] = count(checkup, status.value);
    }
    const Json document = {
        {"format", "memsweep-doctor"},
        {"format_version", checkup_version},
        {"tool", {{"name", json_text(checkup.tool.name)}, {"version", json_text(checkup.tool.version)}}},
        {"taken", json_text(checkup.taken)},
        {"machine",
         {{"host", json_text(checkup.machine.host)},
          {"kernel", json_text(checkup.machine.kernel)},
          {"cpu", json_text(checkup.machine.cpu)},
          {"fingerprint", json_text(checkup.machine.fingerprint)}}},
        {"fit", count(checkup, Fitness::spoils) == 0},
        {"checks", std::move(checks)},
        {"summary", std::move(summary)}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
