#include "reporters/document/advice_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "reporters/document/advice.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

std::string file_name(std::string_view path)
{
    return inert_text(std::string{path.substr(path.rfind('/') + 1)});
}

// "redis-server"; of an interpreter its script, too: "python3 load.py"; of a script of the shell the first word.
std::string program_name(const AdviceReport& report)
{
    if (report.command.empty()) {
        return "";
    }
    constexpr auto interpreters = std::to_array<std::string_view>(
        {"python", "perl", "ruby", "node", "php", "lua", "java", "sh", "bash", "dash", "env"});
    const std::string_view first = report.command.front();
    const std::string name = file_name(report.is_script ? first.substr(0, first.find_first_of(" \t\n")) : first);
    const bool has_script =
        report.command.size() > 1 && !report.command[1].empty() && !report.command[1].starts_with('-') &&
        std::ranges::any_of(interpreters, [&](std::string_view one) { return name.starts_with(one); });
    return has_script ? fmt::format("{} {}", name, file_name(report.command[1])) : name;
}

std::string moment_text(const AdviceReport& report)
{
    return report.wanted_at == "idle" ? fmt::format("rss@idle={:g}s", report.idle_seconds)
                                      : fmt::format("rss@{}", report.wanted_at);
}

// "set one tunable, no other allocator"; "preload jemalloc, with two settings".
std::string deed_text(const AdviceSettings& chosen)
{
    constexpr std::array<std::string_view, 4> counts{"no setting", "one setting", "two settings", "three settings"};
    const std::string_view count = counts.at(std::min<std::size_t>(chosen.settings.size(), 3));
    if (chosen.keeps_allocator) {
        if (chosen.allocator == "glibc") {
            constexpr std::array<std::string_view, 4> tunables{"no tunable", "one tunable", "two tunables",
                                                               "three tunables"};
            return fmt::format("set {}, no other allocator",
                               tunables.at(std::min<std::size_t>(chosen.settings.size(), 3)));
        }
        return fmt::format("give {} {}", chosen.allocator, count);
    }
    return chosen.settings.empty() ? fmt::format("preload {}", chosen.allocator)
                                   : fmt::format("preload {}, with {}", chosen.allocator, count);
}

// "37.7 -> 23.7 MiB (-37.1 %, -37.1 to -37.0)".
std::string gain_text(const AdviceReport& report)
{
    constexpr double mebibyte = 1 << 20;
    const double before = median_of(report.default_memory).value_or(0);
    const AdviceTry& best = report.tried[*report.best];
    const double after = best.memory.value_or(best.predicted.value_or(0));
    const auto percent = [](double ratio) { return (ratio - 1) * 100; };
    const double ratio = report.gain.pairs > 0 ? report.gain.ratio : after / before;
    std::string text =
        fmt::format("{:.1f} -> {:.1f} MiB ({:+.1f} %", before / mebibyte, after / mebibyte, percent(ratio));
    if (report.gain.ci95) {
        text += fmt::format(", {:+.1f} to {:+.1f}", percent((*report.gain.ci95)[0]), percent((*report.gain.ci95)[1]));
    }
    return text + ")";
}

std::string price_text(const AdviceReport& report)
{
    const measure::Judged& price = report.price;
    const std::string_view metric = report.keep == "wall_time" ? "wall time" : "CPU time";
    if (price.pairs == 0) {
        return fmt::format("{} was not compared", metric);
    }
    std::string figure = fmt::format("{} x{:.2f}", metric, price.ratio);
    if (price.ci95) {
        figure += fmt::format(" ({:.2f} to {:.2f})", (*price.ci95)[0], (*price.ci95)[1]);
    }
    figure += fmt::format(", {}", plural(price.pairs, "pair"));
    return price.claim == measure::Claim::proven ? fmt::format("Price proven below x{:.2f}: {}", report.at_most, figure)
                                                 : fmt::format("Price not proven: {}", figure);
}

}  // namespace

std::string_view name_of(AdviceVerdict verdict)
{
    constexpr std::array<std::string_view, 4> names{"change", "change_nothing", "predicted_only", "unsafe"};
    return names.at(static_cast<std::size_t>(verdict));
}

std::string_view name_of(MallocOrigin origin)
{
    constexpr std::array<std::string_view, 5> names{"libc", "preloaded", "linked", "own", "unseen"};
    return names.at(static_cast<std::size_t>(origin));
}

std::string served_text(const AdvisedProgram& program)
{
    return program.served.empty() ? "it" : inert_text(program.served);
}

std::string_view claim_of(const AdviceReport& report, const AdviceTry& tried)
{
    const bool is_best = report.best && &report.tried[*report.best] == &tried;
    if (is_best && report.gain.claim == measure::Claim::proven) {
        return "proven";
    }
    return tried.memory ? "not proven" : tried.predicted ? "predicted" : "";
}

std::string origin_text(const AdvisedProgram& program)
{
    switch (program.origin) {
    case MallocOrigin::libc:
        return "the C library's own";
    case MallocOrigin::preloaded:
        return fmt::format("{}, which is preloaded", inert_text(program.allocator));
    case MallocOrigin::linked:
        return fmt::format("{}, which {} is linked with", inert_text(program.allocator), served_text(program));
    case MallocOrigin::own:
        return fmt::format("one that {} brings along: a preload does nothing to it", served_text(program));
    case MallocOrigin::unseen:
        break;
    }
    return fmt::format("not seen: {}", inert_text(program.unrecorded));
}

std::string_view dropped_text(std::string_view word)
{
    using Pair = std::pair<std::string_view, std::string_view>;
    constexpr auto words = std::to_array<Pair>({{"slower", "slower than allowed"},
                                                {"no_gain", "no gain worth having"},
                                                {"unconfirmed", "not confirmed in pairs"},
                                                {"outrun", "another one is better"},
                                                {"not_reached", "not reached"}});
    const auto found = std::ranges::find(words, word, &Pair::first);
    return found == words.end() ? word : found->second;
}

std::string headline_of(const AdviceReport& report)
{
    const std::string about = fmt::format("{}, {}", program_name(report), moment_text(report));
    switch (report.verdict) {
    case AdviceVerdict::change:
        return fmt::format("{}: {}: {}. {}.", about, deed_text(report.tried[*report.best].settings), gain_text(report),
                           price_text(report));
    case AdviceVerdict::predicted_only:
        if (!report.best) {
            return fmt::format("{}: nothing is proven. {}", about, report.reason);
        }
        return fmt::format("{}: {}: {} would give {}. {}", about,
                           report.tried[*report.best].memory ? "not proven" : "predicted, not run",
                           inert_text(report.tried[*report.best].settings.text), gain_text(report), report.reason);
    case AdviceVerdict::unsafe:
        return fmt::format("{}: change nothing, it would not be safe. {}", about, report.reason);
    case AdviceVerdict::change_nothing:
        break;
    }
    return fmt::format("{}: change nothing. {}", about, report.reason);
}

}  // namespace memsweep::reporters
