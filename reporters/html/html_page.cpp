#include "reporters/html/html_page.hpp"

#include <fmt/format.h>

#include "reporters/html/html_charts.hpp"
#include "reporters/html/html_table.hpp"
#include "reporters/text/html_text.hpp"

namespace memsweep::reporters {
namespace {

std::string head(const Page& page)
{
    return fmt::format("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"color-scheme\" content=\"light dark\">\n"
                       "<title>{} · memsweep</title>\n<style>{}</style>\n</head>\n",
                       content_policy(page.with_charts), escaped(page.title), style_sheet());
}

std::string opening(const Page& page)
{
    return fmt::format("<header>\n<p>{}</p>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n", escaped(page.kicker),
                       escaped(page.title), escaped(page.description));
}

std::string finding_html(const measure::Finding& finding)
{
    const std::string_view tone = tone_class(tone_of(finding.importance));
    const std::string text = escaped(finding.text);
    return tone.empty() ? fmt::format("<li>{}</li>\n", text) : fmt::format("<li class=\"{}\">{}</li>\n", tone, text);
}

// Findings of one kind: those beyond the first few open on demand.
struct Folded {
    std::size_t most{};
    std::size_t count{};
    std::string rest;
};

std::string folded_html(const Folded& folded, std::string_view what)
{
    return folded.rest.empty() ? std::string{}
                               : fmt::format("<details><summary>{} {}</summary>\n<ul>\n{}</ul>\n</details>\n",
                                             folded.count - folded.most, what, folded.rest);
}

}  // namespace

std::string page_html(const Page& page)
{
    return head(page) + "<body>\n" + opening(page) + "<main>\n" + page.body +
           "</main>\n<footer>Every figure is in the JSON result that this page was made from.</footer>\n" +
           scripts_html(page.with_charts) + "</body>\n</html>\n";
}

std::string verdict_html(const Headline& line, const std::vector<measure::Finding>& findings)
{
    constexpr std::size_t most_alarms = 4;
    constexpr std::size_t most_notes = 6;
    std::string items;
    Folded alarms{.most = most_alarms};
    Folded notes{.most = most_notes};
    for (const measure::Finding& finding : findings) {
        Folded& kind = finding.importance == measure::Importance::note ? notes : alarms;
        (++kind.count > kind.most ? kind.rest : items) += finding_html(finding);
    }
    const std::string list = items.empty() ? items : "<ul>\n" + items + "</ul>\n";
    return fmt::format("<section class=\"verdict {}\">\n<h2>{}</h2>\n{}{}{}</section>\n", tone_class(line.tone),
                       escaped(line.text), list, folded_html(alarms, "more that went wrong"),
                       folded_html(notes, "more findings"));
}

std::string facts_html(const std::vector<Fact>& facts)
{
    std::string out = "<dl>\n";
    for (const Fact& fact : facts) {
        const bool is_code = fact.name == "Command";
        const std::string text = is_code ? fmt::format("<code>{}</code>", escaped(fact.text)) : escaped(fact.text);
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(fact.name), text);
    }
    return out + "</dl>\n";
}

}  // namespace memsweep::reporters
