#include "app/allocator_costs.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

#include "app/commands.hpp"
#include "core/memory/malloc_cost.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/preload.hpp"
#include "core/sys/shared_region.hpp"

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

ExitCode execute(const MallocCostCommand& command, const GlobalOptions& /*global*/)
{
    auto region = sys::SharedRegion::map(sys::UniqueFd{command.answer_fd}, sizeof(Answer));
    if (!region) {
        return ExitCode::internal;
    }
    auto& answer = *region->data<Answer>();
    answer.cost = memory::measure_malloc_cost(sys::SystemClock{}, command.bytes);
    sys::serving_library().copy(answer.library.data(), answer.library.size() - 1);
    answer.given = 1;
    return ExitCode::done;
}

}  // namespace memsweep::app
