#include "app/commands/work_end.hpp"

#include <unistd.h>

#include <string_view>
#include <utility>

#include "app/cli/option_values.hpp"
#include "core/engine/command/end_watch.hpp"
#include "core/engine/command/supervision.hpp"
#include "core/sys/process_tree.hpp"

namespace memsweep::app {

OptionValue end_of_work(model::EndOfWork& end)
{
    const auto read = [&end](const std::string& text) -> base::Expected<void> {
        end = MEMSWEEP_TRY(model::parse_end_of_work(text));
        return {};
    };
    return value::offering(value::each(read), {"file:", "line:", "signal", "exit"});
}

sys::ExitStatus judged_end(const sys::ExitStatus& ended, bool was_asked_to_end)
{
    sys::ExitStatus status = ended;
    if (was_asked_to_end && engine::has_obeyed(ended)) {
        status.code = 0;
        status.signal = 0;
    }
    return status;
}

base::Expected<void> WorkEnd::prepare(sys::SpawnOptions& program)
{
    MEMSWEEP_TRY(sign_.prepare());
    if (sign_.end().sign == model::EndSign::signal) {
        program.environment.emplace_back(model::end_signal_variable, std::to_string(::getpid()));
    } else if (sign_.end().sign == model::EndSign::line) {
        return output_.take(program, [this](engine::Printed by, std::string_view bytes) { sign_.hear(by, bytes); });
    }
    return {};
}

bool WorkEnd::look(pid_t asked)
{
    begin();
    const auto now = Clock::now();
    if (!seen_at_) {
        if (sign_.has_come()) {
            seen_at_ = now;
        }
        return seen_at_.has_value();
    }
    if (now >= *seen_at_ + engine::EndWatch::grace && !std::exchange(has_asked_, true)) {
        sys::ask_to_end(asked);
    }
    return false;
}

}  // namespace memsweep::app
