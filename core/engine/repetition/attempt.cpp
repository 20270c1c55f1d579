#include "core/engine/repetition/attempt.hpp"

#include <type_traits>

namespace memsweep::engine {
namespace {

// The part of a subject's measurements that has what every subject has. A subject without one does not compile.
const StepRecord& record_of(const StepMeasurements& measured)
{
    return measured.record;
}

const CommandUse& record_of(const CommandRecord& measured)
{
    return measured;
}

template <typename Get>
auto common(const Attempt& attempt, const Get& get)
{
    return std::visit(
        [&](const auto& measured) {
            if constexpr (std::is_same_v<decltype(measured), const std::monostate&>) {
                return decltype(get(CommandUse{})){};
            } else {
                return get(record_of(measured));
            }
        },
        attempt.measured);
}

}  // namespace

std::int64_t Attempt::wall_ns() const
{
    return common(*this, [](const auto& record) { return record.wall_ns; });
}

std::uint64_t Attempt::peak_working_set_bytes() const
{
    return common(*this, [](const auto& record) { return record.peak_working_set_bytes; });
}

}  // namespace memsweep::engine
