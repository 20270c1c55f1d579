#include "app/commands/malloc_cost.hpp"

#include <array>
#include <climits>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "core/memory/malloc_cost.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/interprocess.hpp"

namespace memsweep::app {
namespace {

constexpr int answer_fd = 3;
constexpr std::chrono::seconds patience{120};

struct Answer {
    std::array<char, 512> library{};
    memory::MallocCost cost{};
    std::uint64_t given{};  // 1 when all of it is written
};

base::Error wrong(std::string message, const model::AllocatorSpec& allocator)
{
    return {base::ErrorCode::invalid_input, std::move(message), allocator.name};
}

ExitCode answer_on(int fd, std::uint64_t bytes)
{
    auto region = sys::SharedRegion::map(sys::UniqueFd{fd}, sizeof(Answer));
    if (!region) {
        return ExitCode::internal;
    }
    auto& answer = *region->data<Answer>();
    answer.cost = memory::measure_malloc_cost(sys::SystemClock{}, bytes);
    sys::serving_library().copy(answer.library.data(), answer.library.size() - 1);
    answer.given = 1;
    return ExitCode::done;
}

}  // namespace

base::Expected<measure::SizeCost> cost_under(const model::AllocatorSpec& allocator, std::uint64_t bytes)
{
    auto region = sys::SharedRegion::create(sizeof(Answer), "memsweep-cost");
    if (!region) {
        return base::fail(region.error());
    }
    sys::SpawnOptions spawn{.argv = {"/proc/self/exe", "malloc-cost", std::to_string(answer_fd), std::to_string(bytes)},
                            .inherit = {{region->fd(), answer_fd}}};
    sys::put_under(allocator, spawn);
    auto process = sys::ChildProcess::spawn(spawn);
    if (!process) {
        return base::fail(process.error());
    }
    const auto status = process->wait_for(patience);
    const Answer& answer = *region->data<Answer>();
    if (!status || answer.given != 1) {
        return base::fail(wrong(fmt::format("measuring blocks of {} B ended with {}", bytes,
                                            status ? status->describe() : "no answer in time"),
                                allocator));
    }
    if (!sys::is_same_file(answer.library.data(), sys::expected_library(allocator))) {
        return base::fail(wrong(
            fmt::format("malloc came from {}, not from {}", answer.library.data(), sys::expected_library(allocator)),
            allocator));
    }
    if (answer.cost.ns_per_op < 0) {
        return base::fail(wrong(fmt::format("it refuses a block of {} B", bytes), allocator));
    }
    return measure::SizeCost{bytes, answer.cost.faults_per_op, answer.cost.ns_per_op};
}

// Measures one size in a process of its own; cost_under starts it.
void add_malloc_cost(Command& program, const GlobalOptions& /*global*/)
{
    struct Asked {
        int fd{};
        std::uint64_t bytes{};
    };
    const auto asked = std::make_shared<Asked>();
    Command& command = program.hidden_command("malloc-cost");
    command.positional("fd FD", value::number(asked->fd, 0, INT_MAX), "").required = true;
    command.positional("bytes BYTES", value::number(asked->bytes, 0, UINT64_MAX), "").required = true;
    command.run = [asked] { return answer_on(asked->fd, asked->bytes); };
}

}  // namespace memsweep::app
