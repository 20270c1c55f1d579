// The runs of `advise` in a file: a run that it has is not made again, and each that is made is added to it. So an
// advise that was killed, or whose budget was too small, goes on from what was measured.
//
// The search asks for its runs anew. It gets what the file has of each setting, in the order in which it was measured,
// and then real ones. The clock of the search moves on by what those runs have taken.
//
// Units    bytes, nanoseconds.
// Cost     a line and one write a run. Nothing is flushed to the disk: a kill of the process loses no whole run, a
//          power failure may.
// Errors   invalid_input: the file is no such journal, or of another program, question or machine; io: it cannot be
//          read or written. A line that was cut off is passed over. Once a line cannot be written, a note says so,
//          and the runs that follow are not kept.
// Threads  one.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "app/commands/advising.hpp"
#include "core/base/expected.hpp"
#include "core/engine/repetition/executor.hpp"
#include "core/sys/clock.hpp"
#include "reporters/document/advice.hpp"

namespace memsweep::app {

// What has to be the same, as texts to compare.
struct AdviceIdentity {
    std::string program;
    std::string question;
    std::string machine;
};
[[nodiscard]] AdviceIdentity advice_identity(const AdviceQuestion& question, const model::Machine& machine);

class RememberedRuns final : public engine::Executor {
  public:
    // Runs are made by `inner`. Without a path none is remembered.
    explicit RememberedRuns(engine::Executor& inner) : inner_{inner} {}

    // `timeout`: a run that something else ended earlier is not kept.
    [[nodiscard]] base::Expected<void> open(const std::string& path, const AdviceIdentity& identity,
                                            std::chrono::nanoseconds timeout);

    [[nodiscard]] engine::Attempt run(const engine::CompiledCase& compiled, const engine::RunLimits& limits,
                                      const std::function<void(int pid)>& started) override;

    // Fills in whose malloc serves the program. It takes what the file says, else calls `look`, which costs a run and
    // returns whether it saw all of that run: only then is the answer kept.
    void take_origin(reporters::AdvisedProgram& program,
                     const std::function<bool(reporters::AdvisedProgram& program)>& look);

    // The time, and what the remembered runs have taken.
    [[nodiscard]] const sys::Clock& clock() const noexcept { return clock_; }
    // How many runs the file had.
    [[nodiscard]] std::uint64_t found() const noexcept { return found_; }

  private:
    struct Run {
        engine::Attempt attempt;
        std::chrono::nanoseconds took{};
    };
    class ShiftedClock final : public sys::Clock {
      public:
        [[nodiscard]] std::chrono::nanoseconds now() const noexcept override { return real_.now() + shift; }
        [[nodiscard]] std::chrono::nanoseconds process_cpu() const noexcept override { return real_.process_cpu(); }
        void sleep_for(std::chrono::nanoseconds duration) const noexcept override { real_.sleep_for(duration); }
        std::chrono::nanoseconds shift{};

      private:
        sys::SystemClock real_;
    };

    base::Expected<void> read(const std::string& text, const AdviceIdentity& identity);
    bool read_line(std::string_view line);
    void append(const std::string& line);

    engine::Executor& inner_;
    std::string path_;  // empty: nothing is remembered
    std::chrono::nanoseconds timeout_{};
    std::map<std::string, std::deque<Run>> runs_;  // by what is run
    std::string as_it_is_;                         // the first that was asked for
    std::vector<std::string> origin_;              // allocator, whose, why it is not known
    std::chrono::nanoseconds origin_took_{};
    std::uint64_t found_{};
    ShiftedClock clock_;
};

}  // namespace memsweep::app
