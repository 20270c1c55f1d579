#include "core/model/step.hpp"

#include <array>

#include "core/base/checked.hpp"

namespace memsweep::model {

namespace {

template <typename... Steps>
constexpr std::array<OperationInfo, sizeof...(Steps)> infos_of(const std::variant<Steps...>* /*of*/)
{
    return {Steps::info...};
}

}  // namespace

std::span<const OperationInfo> operations()
{
    static constexpr auto table = infos_of(static_cast<const Operation*>(nullptr));
    return table;
}

Nested nested(const Operation& operation)
{
    if (const auto* repeat = std::get_if<RepeatStep>(&operation)) {
        return {repeat->times, &repeat->steps};
    }
    if (const auto* scope = std::get_if<ScopeStep>(&operation)) {
        return {1, &scope->steps};
    }
    if (const auto* parallel = std::get_if<ParallelStep>(&operation)) {
        return {parallel->threads, &parallel->steps};
    }
    return {};
}

std::string_view operation_name(const Operation& operation)
{
    return operations()[operation.index()].name;
}

std::optional<std::uint64_t> array_bytes(const AllocStep& step)
{
    std::optional<std::uint64_t> bytes = size_bytes(step.dtype);
    for (const std::uint64_t extent : step.shape) {
        bytes = bytes ? base::checked_mul(*bytes, extent) : std::nullopt;
    }
    return bytes;
}

}  // namespace memsweep::model
