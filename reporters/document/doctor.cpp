#include "reporters/document/doctor.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace memsweep::reporters {
namespace {

using model::Fitness;
using model::MachineCheck;

Tone fitness_tone(Fitness status)
{
    return status == Fitness::spoils ? Tone::bad : status == Fitness::note ? Tone::caution : Tone::good;
}

Item item_of(const MachineCheck& check)
{
    const std::string value = check.value.empty() ? "cannot be told here" : check.value;
    Item item{.text = fmt::format("{}: {}", check.name, value), .tone = fitness_tone(check.status)};
    item.below.push_back({check.why});
    if (!check.command.empty()) {
        item.below.push_back({.text = check.command, .is_command = true});
    }
    return item;
}

void add_section(Document& document, const Checkup& checkup, Fitness status, const std::string& title,
                 Weight weight = Weight::answer)
{
    Items items{.items = {}, .has_bullets = true};
    for (const MachineCheck& check : checkup.checks) {
        if (check.status == status) {
            items.items.push_back(item_of(check));
        }
    }
    if (!items.items.empty()) {
        document.add(Section{.title = title, .blocks = {{std::move(items)}}}, weight);
    }
}

void add_names_of_well(Document& document, const Checkup& checkup)
{
    std::string names;
    for (const MachineCheck& check : checkup.checks) {
        if (check.status == Fitness::ok) {
            names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", check.name, check.value);
        }
    }
    if (!names.empty()) {
        document.add(Section{.title = "Well", .blocks = {{Paragraph{.text = std::move(names), .mark = "  "}}}},
                     Weight::brief);
    }
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

}  // namespace

std::size_t count(const Checkup& checkup, Fitness status)
{
    return static_cast<std::size_t>(std::ranges::count(checkup.checks, status, &MachineCheck::status));
}

Document document(const Checkup& checkup)
{
    Document document{.kicker = "memsweep doctor", .title = checkup.machine.host};
    const Tone tone = count(checkup, Fitness::spoils) == 0 ? Tone::good : Tone::bad;
    document.add(Opening{.headline = {verdict(checkup), tone}});
    add_section(document, checkup, Fitness::spoils, "Spoils numbers");
    add_section(document, checkup, Fitness::note, "Worth knowing");
    add_names_of_well(document, checkup);
    add_section(document, checkup, Fitness::ok, "Well", Weight::reference);
    return document;
}

}  // namespace memsweep::reporters
