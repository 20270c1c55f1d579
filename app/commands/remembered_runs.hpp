// Keeps the runs of `advise` in a file. A run that is in the file is not made again; each new run is appended. So
// `advise` can be continued if it was killed or if its budget was too small.
//
// A continued search asks for all its runs again. For each setting, the search first gets the runs from the file, in
// the order in which they were measured, and then real runs. clock() advances by the time that each run from the file
// took when it was made.
//
// Units    bytes, nanoseconds.
// Cost     one line and one write per run. Nothing is flushed to the disk: a killed process loses no complete run, but
//          a power failure may lose runs.
// Errors   invalid_input: the file has another format, or is for another program, question or machine; io: the file
//          cannot be read or written. An incomplete line is skipped. If a line cannot be written, a note says so, and
//          later runs are not kept.
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

// The facts, as texts, that must be the same now as when the file was written. Otherwise its runs cannot be reused.
struct AdviceIdentity {
    std::string program;
    std::string question;
    std::string machine;
};
[[nodiscard]] AdviceIdentity advice_identity(const AdviceQuestion& question, const model::Machine& machine);

class RememberedRuns final : public engine::Executor {
  public:
    // `inner` makes the real runs. Until open() is called, nothing is kept.
    explicit RememberedRuns(engine::Executor& inner) : inner_{inner} {}

    // Reads the file, if it exists, and from now on appends runs to it. `timeout`: the time limit of a run. A run that
    // was stopped before this limit, because the budget ended, is not kept; nor is a failed run of the unchanged
    // program.
    [[nodiscard]] base::Expected<void> open(const std::string& path, const AdviceIdentity& identity,
                                            std::chrono::nanoseconds timeout);

    [[nodiscard]] engine::Attempt run(const engine::CompiledCase& compiled, const engine::RunLimits& limits,
                                      const std::function<void(int pid)>& started) override;

    // Fills in which allocator's malloc the program uses. If the file does not have this answer, calls `look`, which
    // costs a run. `look` returns whether it observed the whole run; the answer is kept only if `look` returns true.
    void take_origin(reporters::AdvisedProgram& program,
                     const std::function<bool(reporters::AdvisedProgram& program)>& look);

    // A clock that shows the real time plus the time that the runs from the file took.
    [[nodiscard]] const sys::Clock& clock() const noexcept { return clock_; }
    // Returns how many runs were in the file when it was opened.
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
    std::map<std::string, std::deque<Run>> runs_;  // by allocator and environment
    std::string as_it_is_;  // the key in `runs_` of the unchanged program, whose runs are always asked for first
    std::vector<std::string> origin_;  // three texts: allocator, name of the MallocOrigin, why it is not known
    std::chrono::nanoseconds origin_took_{};
    std::uint64_t found_{};
    ShiftedClock clock_;
};

}  // namespace memsweep::app
