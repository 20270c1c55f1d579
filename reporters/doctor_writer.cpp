#include "reporters/doctor_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reporters/json_text.hpp"
#include "reporters/terminal_ink.hpp"
#include "reporters/utf8.hpp"

namespace memsweep::reporters {
namespace {

using model::Fitness;
using model::MachineCheck;

constexpr int format_version = 1;

Tone tone_of(Fitness status)
{
    return status == Fitness::spoils ? Tone::bad : status == Fitness::note ? Tone::caution : Tone::good;
}

// A command is never broken: it is there to be copied.
std::string entry(const MachineCheck& check, const TerminalStyle& style)
{
    const std::string value = check.value.empty() ? "cannot be told here" : check.value;
    std::string text = paragraph(fmt::format("{}: {}", check.name, value), "  * ", style, tone_of(check.status)) +
                       paragraph(check.why, "    ", style);
    if (!check.command.empty()) {
        text += "    $ " + inert_text(check.command) + "\n";
    }
    return text;
}

std::string section(const Checkup& checkup, Fitness status, const std::string& title, const TerminalStyle& style)
{
    std::string text;
    for (const MachineCheck& check : checkup.checks) {
        text += check.status == status ? entry(check, style) : std::string{};
    }
    return text.empty() ? text : "\n" + heading(title, style) + "\n" + text;
}

std::string well(const Checkup& checkup, const TerminalStyle& style)
{
    if (style.verbose) {
        return section(checkup, Fitness::ok, "Well", style);
    }
    std::string names;
    for (const MachineCheck& check : checkup.checks) {
        if (check.status == Fitness::ok) {
            names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", check.name, check.value);
        }
    }
    return names.empty() ? names : "\n" + heading("Well", style) + "\n" + paragraph(names, "  ", style);
}

std::string verdict(const Checkup& checkup)
{
    const std::size_t spoils = count(checkup, Fitness::spoils);
    const std::size_t all = checkup.checks.size();
    if (spoils == 0) {
        return fmt::format("Fit to measure on: none of {} checks would spoil numbers.", all);
    }
    return fmt::format("Not fit to measure on as it is: {} of {} checks would spoil numbers.", spoils, all);
}

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

std::size_t count(const Checkup& checkup, Fitness status)
{
    return static_cast<std::size_t>(std::ranges::count(checkup.checks, status, &MachineCheck::status));
}

std::string to_terminal(const Checkup& checkup, const TerminalStyle& style)
{
    const Tone tone = count(checkup, Fitness::spoils) == 0 ? Tone::good : Tone::bad;
    return paragraph(verdict(checkup), "", style, tone) + section(checkup, Fitness::spoils, "Spoils numbers", style) +
           section(checkup, Fitness::note, "Worth knowing", style) + well(checkup, style);
}

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
        {"format_version", format_version},
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
