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
#include "reporters/json/result_json.hpp"
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
    const model::StatusCounts counts = model::count(report);
    return counts.failed + counts.assertions_failed != 0;
}

template <typename Number>
std::set<Number> numbers_in(const std::string& text)
{
    std::istringstream words{text};
    return {std::istream_iterator<Number>{words}, std::istream_iterator<Number>{}};
}

// The test without what lost ranks would have to do.
LinkTest without(const LinkTest& test, const std::set<int>& lost)
{
    LinkTest left = test;
    std::erase_if(left.flows, [&](const Flow& flow) { return lost.contains(flow.from) || lost.contains(flow.to); });
    return left;
}

std::set<int> members_of(const LinkTest& test)
{
    std::set<int> members;
    for (const Flow& flow : test.flows) {
        members.insert({flow.from, flow.to});
    }
    return members;
}

// What every rank does by itself.
class Rank {
  public:
    Rank(const MpiOptions& options, const Comm& comm, Journal& journal)
        : options_{options}, comm_{comm}, journal_{journal}, plan_{link_plan(options.patterns, comm.size())}
    {
        for (const model::Plan& plan : options.plans) {
            add_tests(plan, comm.size(), plan_);
        }
    }

  protected:
    [[nodiscard]] std::chrono::nanoseconds patience_with(const LinkTest& test) const
    {
        return std::max(options_.link.patience, test.timeout);
    }

    void measure_own()
    {
        if (options_.own.what.empty() || journal_.has_own()) {
            return;
        }
        app::GlobalOptions global = options_.global;
        global.quiet = true;
        const sys::StopSignals signals;
        const sys::SystemClock clock;
        const auto report = sys::load_topology().and_then(
            [&](const sys::Topology& topology) { return app::probe(options_.own, global, topology, clock, signals); });
        if (report) {
            journal_.add_own(*report);
        } else {
            app::print_error(report.error());
        }
        journal_.write(false);
    }

    // `number`: of the test, from 0.
    void measure_link(const LinkTest& test, std::size_t number)
    {
        LinkSettings settings = options_.link;
        settings.patience = patience_with(test);
        journal_.add_links(test, run_link_test(comm_, test, static_cast<int>(number) + 1, settings));
        journal_.write(false);
    }

    const MpiOptions& options_;
    const Comm& comm_;
    Journal& journal_;
    std::vector<LinkTest> plan_;
};

class Conductor : Rank {
  public:
    using Rank::Rank;

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
            held_[rank] = numbers_in<std::size_t>(*answer);
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
                measure_own();
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
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            const LinkTest test = without(plan_[i], lost_);
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
                measure_link(test, i);
            }
            const Deadline deadline = within(patience_with(test) + grace);
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

    std::set<int> lost_;
    std::map<int, std::set<std::size_t>> held_;  // by rank: numbers of tests
    std::map<int, model::RunReport> reports_;
};

class Follower : Rank {
  public:
    using Rank::Rank;

    app::ExitCode follow()
    {
        if (!answer(fmt::format("{}", fmt::join(journal_.held(plan_), " ")))) {
            return end_alone();
        }
        while (true) {
            const auto order = comm_.receive(0, order_tag, within(all_there_is()));
            if (!order) {
                return end_alone();
            }
            const bool ends = order->starts_with("end");
            if (ends) {
                journal_.write(true);
            } else if (*order == "own") {
                measure_own();
            } else {
                take_part(*order);
            }
            if (!answer(ends || *order == "own" ? journal_.text() : "done")) {
                return end_alone();
            }
            if (ends && *order != "end") {
                return app::ExitCode::case_failed;  // and MPI is left as it is: its end would wait for who is lost
            }
            if (ends) {
                return has_finding(journal_.report()) ? app::ExitCode::finding : app::ExitCode::done;
            }
        }
    }

  private:
    [[nodiscard]] bool answer(const std::string& text) const
    {
        return comm_.send(text, 0, answer_tag, within(start_patience));
    }

    // How long an order may take, at most.
    [[nodiscard]] std::chrono::nanoseconds all_there_is() const
    {
        std::chrono::nanoseconds time = options_.own_patience * comm_.size() + start_patience;
        time += options_.link.patience + grace;
        for (const LinkTest& test : plan_) {
            time += patience_with(test) + grace;
        }
        return time;
    }

    // "link NUMBER LOST ...": a test, and who is no longer there.
    void take_part(const std::string& order)
    {
        std::istringstream words{order};
        std::string word;
        std::size_t number = 0;
        words >> word >> number;
        std::string lost;
        std::getline(words, lost);
        if (number < plan_.size()) {
            measure_link(without(plan_[number], numbers_in<int>(lost)), number);
        }
    }

    app::ExitCode end_alone()
    {
        app::print_error({base::ErrorCode::os, "no answer; this rank ends with its own cases", comm_.name(0)});
        measure_own();
        journal_.write(false);
        return app::ExitCode::case_failed;
    }
};

}  // namespace

app::ExitCode conduct(const MpiOptions& options, const Comm& comm, Journal& journal)
{
    return comm.rank() == 0 ? Conductor{options, comm, journal}.conduct() : Follower{options, comm, journal}.follow();
}

}  // namespace memsweep::mpi
