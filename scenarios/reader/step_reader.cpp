#include "scenarios/reader/step_reader.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/limits.hpp"

namespace memsweep::scenarios {
namespace {

template <std::size_t... Index>  // NOLINT(readability-identifier-naming): a pack of values, named like the types
model::Operation blank(std::size_t index, std::index_sequence<Index...> /*alternatives*/)
{
    using Make = model::Operation (*)();
    static constexpr std::array<Make, sizeof...(Index)> makers{
        [] { return model::Operation{std::in_place_index<Index>}; }...};
    return makers[index]();
}

// The index of `name` in Operation's alternatives, which operations() lists in that order.
std::size_t operation_index(std::string_view name)
{
    const auto known = model::operations();
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& info) { return info.name == name; });
    return static_cast<std::size_t>(found - known.begin());
}

}  // namespace

std::size_t count_steps(const SourceNode& steps)
{
    const List* list = steps.as<List>();
    if (list == nullptr) {
        return 0;
    }
    std::size_t total = 0;
    for (const SourceNode& step : *list) {
        const Object* object = step.as<Object>();
        const SourceNode* nested = object == nullptr ? nullptr : find(*object, "steps");
        total += 1 + (nested == nullptr ? 0 : count_steps(*nested));
    }
    return total;
}

StepReader::StepReader(const Reading& reading, const model::MemorySpec& memory, const model::ReleaseSpec& release,
                       std::uint32_t ranks)
    : reading_{reading}, memory_{memory}, release_{release}, ranks_{ranks}, names_{reading.diagnostics}
{
}

std::vector<model::Step> StepReader::read(const SourceNode& steps)
{
    std::vector<model::Step> read;
    const List* list = steps.as<List>();
    if (list == nullptr || list->empty()) {
        reading_.diagnostics.add(
            steps.place, list == nullptr ? fmt::format("\"steps\" must be a list of objects, not {}", describe(steps))
                                         : "\"steps\" is empty");
        return read;
    }
    read.reserve(list->size());
    for (std::size_t i = 0; i < list->size() && !reading_.diagnostics.full(); ++i) {
        if (auto step = read_step((*list)[i])) {
            read.push_back(std::move(*step));
        } else {
            flow_->lose_track();
        }
    }
    return read;
}

std::optional<model::Step> StepReader::read_step(const SourceNode& node)
{
    Fields fields{node, "a step", reading_};
    auto operation = blank_operation(fields);
    if (!operation) {
        return std::nullopt;
    }
    const auto name = model::operation_name(*operation);
    Fields named{node, fmt::format("step \"{}\"", name), reading_};
    const auto own = operation_options(name);
    named.check(step_table().options(), own);
    model::Step step{std::move(*operation), {}, false, to_text(node.place)};
    named.read(step_table(), step);
    if (parallel_ != 0) {
        check_in_parallel(named, name, step);
    }
    if (ranks_ != 0 && !std::holds_alternative<model::TransferStep>(step.operation)) {
        named.complain(named.place("op"),
                       fmt::format("a scenario with \"ranks\" has transfer steps alone, no \"{}\"", name));
    }
    if (auto* trim = std::get_if<model::TrimStep>(&step.operation); trim != nullptr && named.has("how")) {
        trim->how = model::TrimHow::none;  // and stays so when it cannot be read: memory then has no objection to it
    }
    std::visit(
        [&](auto& alternative) {
            named.read(own, &alternative);
            use_arrays(named, own, &alternative);
            check(named, alternative);
        },
        step.operation);
    return step;
}

void StepReader::use_arrays(const Fields& fields, std::span<const OptionInfo> own, const void* step)
{
    for (const OptionInfo& row : own) {
        if (row.uses_arrays) {
            use(fields, row.name, std::get<std::string>(row.binding.get(step)));
        }
    }
}

const Arrays* StepReader::use(const Fields& fields, std::string_view key, const std::string& name)
{
    return name.empty() ? nullptr : flow_->use(name, fields.place(key));
}

void StepReader::check_in_parallel(const Fields& fields, std::string_view name, const model::Step& step)
{
    if (!model::operations()[step.operation.index()].is_for_threads) {
        auto can = model::operations() | std::views::filter(&model::OperationInfo::is_for_threads) |
                   std::views::transform(&model::OperationInfo::name);
        fields.complain(fields.place("op"), fmt::format("\"{}\" cannot stand in a parallel block; what can: {}", name,
                                                        fmt::join(can, ", ")));
    }
    if (step.timed || !step.phase.empty()) {
        fields.complain(fields.place(step.timed ? "timed" : "phase"),
                        "a parallel block is timed as a whole: \"timed\" and \"phase\" belong to the block");
    }
}

// An operation decides which keys are known, so it is written out rather than substituted.
std::optional<model::Operation> StepReader::blank_operation(const Fields& fields)
{
    const OptionInfo& option = step_table().options().front();
    const SourceNode* op = fields.raw(option.name);
    if (!fields.is_object() || op == nullptr) {
        if (fields.is_object()) {
            fields.complain(fields.place("op"), "a step lacks \"op\": what the step does");
        }
        return std::nullopt;
    }
    const auto* text = op->as<std::string>();
    if (text != nullptr && has_placeholder(*text)) {
        fields.complain(op->place, "\"op\" is written out; it cannot hold a placeholder");
        return std::nullopt;
    }
    const auto name = fields.value(option);
    constexpr auto alternatives = std::make_index_sequence<std::variant_size_v<model::Operation>>{};
    return name ? std::optional{blank(operation_index(std::get<std::string>(*name)), alternatives)} : std::nullopt;
}

}  // namespace memsweep::scenarios
