// Runs a program under each setting that `advise` tries, and compares the run with runs of the unchanged program.
//
// A run does not count, however little memory it took, if the program crashes, hangs or fails, if the program's memory
// cannot be read, if it prints different output, or if the setting does not reach it.
//
// Errors   reported in the Attempt, never as an exception; fault_of() says which kind of failure a case had.
// Threads  one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/engine/command/command_executor.hpp"
#include "core/engine/observer.hpp"

namespace memsweep::app {

enum class AdviceFault : std::uint8_t {
    none,
    failed,  // the program crashed, hung or failed, or its memory could not be read
    unsafe,  // the program printed different output
    inert,   // the setting does not reach the program
};

// The id of the case that runs the program unchanged, without any setting.
inline constexpr const char* as_it_is_id = "advise/as it is";

class AdviceExecutor final : public engine::Executor, public engine::Observer {
  public:
    // `reads_moment`: a run counts only if the program's memory was read at the end of the run. `note`: called with the
    // id of the case when a run begins. `patience`: returns how much time is left for a run that begins now.
    AdviceExecutor(engine::Executor& inner, bool reads_moment, std::function<void(const std::string&)> note,
                   std::function<std::chrono::nanoseconds()> patience);

    [[nodiscard]] engine::Attempt run(const engine::CompiledCase& compiled, const engine::RunLimits& limits,
                                      const std::function<void(int pid)>& started) override;

    void repetition_started(const engine::RepetitionStart& start) override;
    void repetition_ended(const engine::RepetitionStart& start, const engine::Attempt& attempt,
                          const model::RunReport& report) override;

    // Returns the fault of the case's latest run that had one; `none` if all its runs were good.
    [[nodiscard]] AdviceFault fault_of(const std::string& case_id) const;

    // Says whether the unchanged program's output varies from run to run. If the output varies, outputs are not
    // compared.
    [[nodiscard]] bool prints_otherwise() const { return varies_; }

    // Returns the number of extra runs that were made because the program had ended before its memory could be read.
    [[nodiscard]] std::uint32_t repeats() const { return repeats_; }

    // Returns the memory of the unchanged program in its last run.
    [[nodiscard]] const engine::Moment& moment() const { return moment_; }

  private:
    [[nodiscard]] bool is_as_it_is() const { return running_.empty() || running_ == as_it_is_id; }
    [[nodiscard]] bool is_unread(const engine::Attempt& attempt) const;
    [[nodiscard]] std::string objection(const engine::CompiledCase& compiled, engine::CommandRecord& measured);

    engine::Executor& inner_;
    bool reads_moment_;
    std::function<void(const std::string&)> note_;
    std::function<std::chrono::nanoseconds()> patience_;
    std::string running_;   // the id of the case that runs; empty: the unchanged program
    std::string checksum_;  // of the unchanged program's output
    bool varies_{};
    std::uint32_t repeats_{};
    engine::Moment moment_;
    AdviceFault last_{};
    std::map<std::string, AdviceFault> faults_;
};

}  // namespace memsweep::app
