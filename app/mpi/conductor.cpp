#include "app/mpi/conductor.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/console.hpp"
#include "app/commands/probing.hpp"
#include "app/commands/results.hpp"
#include "app/mpi/link_plan.hpp"
#include "core/measure/fleet.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/signals.hpp"
#include "core/sys/topology.hpp"
#include "reporters/json/fleet_json.hpp"
#include "reporters/json/json_reader.hpp"
#include "scenarios/reader/fingerprint.hpp"

namespace memsweep::mpi {
namespace {

// Tests count from 1, so that their messages have other tags.
constexpr int order_tag = 0;
constexpr int answer_tag = 1;
constexpr std::chrono::seconds start_patience{60};
constexpr std::chrono::seconds grace{2};

// Wrong data, memory elsewhere than bound, or a scenario's assertion.
bool has_finding(const model::RunReport& report)
{
    const model::Counts counts = model::count(report);
    return counts.failed + counts.assertions_failed != 0;
}

std::vector<LinkTest> whole_plan(const MpiOptions& options, int ranks)
{
    std::vector<LinkTest> tests = link_plan(options.patterns, ranks);
    for (const model::Plan& plan : options.plans) {
        add_tests(plan, ranks, tests);
    }
    return tests;
}

std::chrono::nanoseconds patience_with(const MpiOptions& options, const LinkTest& test)
{
    return std::max(options.link.patience, test.timeout);
}

void measure_own(const MpiOptions& options, Journal& journal)
{
    if (options.own.what.empty() || journal.has_own()) {
        return;
    }
    app::GlobalOptions global = options.global;
    global.quiet = true;
    const sys::StopSignals signals;
    const sys::SystemClock clock;
    const auto report = sys::load_topology().and_then(
        [&](const sys::Topology& topology) { return app::probe(options.own, global, topology, clock, signals); });
    if (report) {
        journal.add_own(*report);
    } else {
        app::print_error(report.error());
    }
    journal.write(false);
}

std::set<int> numbers_in(const std::string& text)
{
    std::istringstream words{text};
    return {std::istream_iterator<int>{words}, std::istream_iterator<int>{}};
}

// The test without what lost ranks would have to do.
LinkTest without(const LinkTest& test, const std::set<int>& lost)
{
    LinkTest left = test;
    std::erase_if(left.flows, [&](const Flow& flow) { return lost.contains(flow.from) || lost.contains(flow.to); });
    return left;
}

void measure_link(const MpiOptions& options, const Comm& comm, const LinkTest& test, int number, Journal& journal)
{
    LinkSettings settings = options.link;
    settings.patience = patience_with(options, test);
    journal.add_links(test, run_link_test(comm, test, number, settings));
    journal.write(false);
}

std::set<int> members_of(const LinkTest& test)
{
    std::set<int> members;
    for (const Flow& flow : test.flows) {
        members.insert({flow.from, flow.to});
    }
    return members;
}

class Conductor {
  public:
    Conductor(const MpiOptions& options, const Comm& comm, Journal& journal)
        : options_{options}, comm_{comm}, journal_{journal}, plan_{whole_plan(options, comm.size())}
    {
    }

    app::ExitCode conduct()
    {
        greet();
        own_cases();
        links();
        for (int rank = 1; rank < comm_.size(); ++rank) {
            ask(rank, lost_.empty() ? "end" : "end, somebody is lost");
        }
        journal_.write(true);
        for (int rank = 1; rank < comm_.size(); ++rank) {
            gather(rank, within(grace + options_.link.patience));
        }
        write_fleet();
        return exit_code();
    }

  private:
    void lose(int rank, std::string_view what)
    {
        if (lost_.insert(rank).second) {
            app::print_error({base::ErrorCode::os, fmt::format("no answer while {}; it is left out from here on", what),
                              comm_.name(rank)});
        }
    }

    void tell(const std::string& text) const
    {
        if (!options_.global.quiet) {
            app::print_note(text);
        }
    }

    void ask(int rank, const std::string& order)
    {
        if (!lost_.contains(rank) && !comm_.send(order, rank, order_tag, within(start_patience))) {
            lose(rank, "being given work");
        }
    }

    // Each rank says of which tests it holds its part already, by their numbers.
    void greet()
    {
        for (int rank = 1; rank < comm_.size(); ++rank) {
            const auto answer = comm_.receive(rank, answer_tag, within(start_patience));
            if (!answer) {
                lose(rank, "starting");
                continue;
            }
            held_[rank] = numbers_in(*answer);
        }
        held_[0] = journal_.held(plan_);
    }

    void gather(int rank, Deadline deadline)
    {
        if (lost_.contains(rank)) {
            return;
        }
        const auto text = comm_.receive(rank, answer_tag, deadline);
        auto report = text ? reporters::read_json(*text, comm_.name(rank)) : base::fail(base::ErrorCode::os, "");
        if (report) {
            reports_.insert_or_assign(rank, *std::move(report));
        } else {
            lose(rank, "its result was awaited");
        }
    }

    void own_cases()
    {
        const int at_once = options_.together == Together::one     ? 1
                            : options_.together == Together::pairs ? 2
                                                                   : comm_.size();
        for (int first = 0; first < comm_.size(); first += at_once) {
            const int end = std::min(first + at_once, comm_.size());
            for (int rank = std::max(first, 1); rank < end; ++rank) {
                ask(rank, "own");
            }
            tell(fmt::format("own cases: {} of {} ranks", end, comm_.size()));
            if (first == 0) {
                measure_own(options_, journal_);
            }
            const Deadline deadline = within(options_.own_patience);
            for (int rank = std::max(first, 1); rank < end; ++rank) {
                gather(rank, deadline);
            }
            write_fleet();
        }
    }

    void links()
    {
        for (int i = 0; i < static_cast<int>(plan_.size()); ++i) {
            const LinkTest test = without(plan_[static_cast<std::size_t>(i)], lost_);
            if (!test.unmet.empty()) {
                tell(fmt::format("{}: {}", test.scenario, test.unmet));
                journal_.add_unmet(test);
                continue;
            }
            const std::set<int> members = members_of(test);
            const bool held =
                std::ranges::all_of(test.flows, [&](const Flow& flow) { return held_[flow.from].contains(i); });
            if (members.empty() || held) {
                continue;
            }
            std::string order = fmt::format("link {} {}", i, fmt::join(lost_, " "));
            for (const int rank : members) {
                if (rank != 0) {
                    ask(rank, order);
                }
            }
            tell(fmt::format("links: {} of {}", i + 1, plan_.size()));
            if (members.contains(0)) {
                measure_link(options_, comm_, test, i + 1, journal_);
            }
            const Deadline deadline = within(patience_with(options_, test) + grace);
            for (const int rank : members) {
                if (rank != 0 && !lost_.contains(rank) && !comm_.receive(rank, answer_tag, deadline)) {
                    lose(rank, "a link was measured");
                }
            }
        }
    }

    // Who was lost is missing, unless its own result came before: then it is there, unfinished.
    void write_fleet()
    {
        measure::FleetBuilder builder{false};
        std::string ids;
        reports_.insert_or_assign(0, journal_.report());
        for (const auto& [rank, report] : reports_) {
            if (const auto added = builder.add(comm_.name(rank), report); !added) {
                app::print_error(added.error());
            }
            ids += report.run.id + "\n";
        }
        model::Fleet fleet = builder.finish({.names = comm_.hosts()}, {});
        fleet.id = fmt::format("{}-{:.8}", fleet.started, scenarios::sha256(ids));
        fleet.argv = options_.global.argv;
        fleet.exit_code = static_cast<int>(exit_code());
        static_cast<void>(app::settled(app::write_file(
            options_.gather, [&](reporters::TextSink& sink) { reporters::write_fleet_json(fleet, sink); })));
    }

    [[nodiscard]] app::ExitCode exit_code() const
    {
        app::ExitCode code = lost_.empty() ? app::ExitCode::done : app::ExitCode::case_failed;
        for (const auto& [rank, report] : reports_) {
            code = has_finding(report) ? app::worse(code, app::ExitCode::finding) : code;
        }
        return code;
    }

    const MpiOptions& options_;
    const Comm& comm_;
    Journal& journal_;
    std::vector<LinkTest> plan_;
    std::set<int> lost_;
    std::map<int, std::set<int>> held_;  // by rank: numbers of tests
    std::map<int, model::RunReport> reports_;
};

}  // namespace

app::ExitCode conduct(const MpiOptions& options, const Comm& comm, Journal& journal)
{
    return Conductor{options, comm, journal}.conduct();
}

app::ExitCode follow(const MpiOptions& options, const Comm& comm, Journal& journal)
{
    const std::vector<LinkTest> plan = whole_plan(options, comm.size());
    const auto lost_leader = [&] {
        app::print_error({base::ErrorCode::os, "no answer; this rank ends with its own cases", comm.name(0)});
        measure_own(options, journal);
        journal.write(false);
        return app::ExitCode::case_failed;
    };
    if (!comm.send(fmt::format("{}", fmt::join(journal.held(plan), " ")), 0, answer_tag, within(start_patience))) {
        return lost_leader();
    }
    const auto all_own = options.own_patience * comm.size() + start_patience;
    auto all_links = options.link.patience + grace;
    for (const LinkTest& test : plan) {
        all_links += patience_with(options, test) + grace;
    }
    while (true) {
        const auto order = comm.receive(0, order_tag, within(all_own + all_links));
        if (!order) {
            return lost_leader();
        }
        std::string answer;
        if (*order == "own") {
            measure_own(options, journal);
            answer = journal.text();
        } else if (order->starts_with("end")) {
            journal.write(true);
            answer = journal.text();
        } else {
            std::istringstream words{*order};
            std::string word;
            std::size_t number = 0;
            words >> word >> number;
            std::string lost;
            std::getline(words, lost);
            if (number < plan.size()) {
                measure_link(options, comm, without(plan[number], numbers_in(lost)), static_cast<int>(number) + 1,
                             journal);
            }
            answer = "done";
        }
        if (!comm.send(answer, 0, answer_tag, within(start_patience))) {
            return lost_leader();
        }
        if (order->starts_with("end")) {
            if (*order != "end") {
                return app::ExitCode::case_failed;  // and MPI is left as it is: its end would wait for who is lost
            }
            return has_finding(journal.report()) ? app::ExitCode::finding : app::ExitCode::done;
        }
    }
}

}  // namespace memsweep::mpi
