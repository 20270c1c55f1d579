// Two plans with equal canonical forms measure the same. What the rows of the option tables say of it, and the few
// shapes that are no rows (parameters, nested steps, transfers, expressions), are all there is.
#include "scenarios/reader/fingerprint.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>
#include <sha2.h>

#include "core/model/plan.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::scenarios {
namespace {

using nlohmann::json;

struct ToJson {
    json operator()(std::monostate /*none*/) const { return {}; }
    template <typename T>
    json operator()(const T& value) const
    {
        return value;
    }
};

json value_json(const OptionInfo& row, const void* object)
{
    const auto get = row.canonical.get != nullptr ? row.canonical.get : row.binding.get;
    return std::visit(ToJson{}, get(object));
}

// What is not at its default stands by its name; among the values of a list as {name: value}, or as the name of a
// switch.
void put_changed(json& into, std::string_view name, json value)
{
    if (!into.is_array()) {
        into[std::string{name}] = std::move(value);
    } else if (value == true) {
        into.push_back(name);
    } else {
        into.push_back({{name, std::move(value)}});
    }
}

void put_listed(json& list, const Canonical& canonical, json value)
{
    if (canonical.position) {
        list[*canonical.position] = std::move(value);
    } else {
        list.push_back(std::move(value));
    }
}

// Rows without a place in a list go last: where lists are all there is, they stand behind the values.
json object_json(std::span<const OptionInfo> options, const void* object, const void* plain)
{
    using Form = Canonical::Form;
    json result;
    for (const bool listed : {true, false}) {
        for (const OptionInfo& row : options) {
            const Canonical& canonical = row.canonical;
            const Form form = canonical.form.value_or(Form::unless_default);
            if (form == Form::left_out || (form == Form::listed) != listed ||
                (canonical.counts != nullptr && !canonical.counts(object))) {
                continue;
            }
            json value = value_json(row, object);
            const std::string_view name = canonical.name.empty() ? row.name : canonical.name;
            if (listed) {
                put_listed(result[json::json_pointer{std::string{canonical.name}}], canonical, std::move(value));
            } else if (form == Form::always || value != value_json(row, plain)) {
                put_changed(result, name, std::move(value));
            }
        }
    }
    return result.is_null() ? json::object() : result;
}

template <typename Object>
json object_json(const OptionTable<Object>& table, const Object& object)
{
    return object_json(table.options(), &object, &table.plain());
}

std::string text_of(const json& value)
{
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json params_json(const std::vector<model::Param>& params)
{
    json object = json::object();
    for (const model::Param& param : params) {
        object[param.name] = model::to_text(param.value);
    }
    return object;
}

json jobs_json(const model::TransferStep& step)
{
    json jobs = json::array();
    for (const model::TransferJob& job : step.jobs) {
        jobs.push_back({model::to_text(job.spec), job.bytes, job.priority});
    }
    return jobs;
}

json steps_json(const std::vector<model::Step>& steps)
{
    json list = json::array();
    for (const model::Step& step : steps) {
        json object = object_json(step_table(), step);
        const auto own = operation_options(model::operation_name(step.operation));
        object.update(std::visit(
            [&]<typename Operation>(const Operation& operation) {
                static const Operation plain{};
                return object_json(own, &operation, &plain);
            },
            step.operation));
        if (const model::Nested inner = model::nested(step.operation); inner.steps != nullptr) {
            object["steps"] = steps_json(*inner.steps);
        }
        if (const auto* transfer = std::get_if<model::TransferStep>(&step.operation)) {
            object["transfers"] = jobs_json(*transfer);
        }
        list.push_back(std::move(object));
    }
    return list;
}

// What is not asked for says nothing, so that a new option leaves the fingerprints of old scenarios alone.
json memory_json(const model::MemorySpec& memory)
{
    json object = object_json(memory_table(), memory);
    if (memory.numa.policy != model::NumaPolicy::none) {
        object["numa"] = object_json(numa_table(), memory.numa);
    }
    if (memory.pool.kind != model::PoolKind::none) {
        object["pool"] = object_json(pool_table(), memory.pool);
    }
    if (memory.trim.above_bytes != 0) {
        object["trim"] = object_json(memory_trim_table(), memory.trim);
    }
    return object;
}

json release_json(const model::ReleaseSpec& release)
{
    json object = object_json(release_table(), release);
    if (release.safety != model::SafetySpec{}) {
        object["safety"] = object_json(safety_table(), release.safety);
    }
    return object;
}

json series_json(const model::SeriesSpec& series)
{
    json object = object_json(series_table(), series);
    object["working_set"] = series.working_set;
    object["live_bytes"] = series.live_bytes;
    return object;
}

json variables_json(const model::Variables& variables)
{
    json object = json::object();
    for (const auto& [name, value] : variables) {
        object[name] = value;
    }
    return object;
}

json command_json(const model::CommandSpec& command)
{
    json object = object_json(command_table(), command);
    if (!command.environment.empty()) {
        object["env"] = variables_json(command.environment);
    }
    if (command.end.sign != model::EndSign::none) {
        object["end_when"] = model::to_text(command.end);
    }
    if (!command.input_contents.empty()) {  // known so early of what a command line gives alone, whose file has no name
        object["input"] = command.input_contents;
    }
    return object;
}

std::string canonical_header(const model::Plan& plan)
{
    json object{{"name", plan.name},
                {"isolation", model::name_of(plan.settings.isolation)},
                {"requires", object_json(requires_table(), plan.requirements)}};
    if (plan.requirements.ranks.count != 0) {
        object["ranks"] = model::to_text(plan.requirements.ranks);
    }
    return text_of(object);
}

std::string canonical_case(const model::Case& plan_case)
{
    json object{{"params", params_json(plan_case.params)},
                {"memory", memory_json(plan_case.memory)},
                {"release", release_json(plan_case.release)},
                {"steps", steps_json(plan_case.steps())},
                {"series", series_json(plan_case.series)}};
    if (!plan_case.allocator.environment.empty()) {  // its name is among the parameters
        object["allocator"] = variables_json(plan_case.allocator.environment);
    }
    if (const model::CommandSpec* const command = plan_case.command()) {
        object["command"] = command_json(*command);
    }
    return text_of(object);
}

std::string canonical_assertion(const model::Assertion& assertion)
{
    const model::Expression& expression = assertion.expression;
    json object = object_json(assert_table(), assertion);
    object.update({{"where", params_json(assertion.where)},
                   {"point", expression.point},
                   {"metric", expression.metric},
                   {"stat", static_cast<int>(expression.stat)},
                   {"percentile", expression.percentile},
                   {"comparison", static_cast<int>(expression.comparison)},
                   {"limit", expression.limit}});
    if (expression.ratio) {
        const auto& [first, second] = *expression.ratio;
        object[expression.explained           ? "explained"
               : expression.slope_length != 0 ? "slope"
                                              : "ratio"] = {{first.axis, first.value}, {second.axis, second.value}};
    }
    return text_of(object);
}

void add_line(Digest& digest, std::string_view text)
{
    digest.add(text);
    digest.add("\n");
}

// By id: the order of axes and of their values decides only when a case runs, not what it measures.
std::vector<model::Case*> by_id(model::Plan& plan)
{
    std::vector<model::Case*> cases;
    cases.reserve(plan.cases.size());
    for (model::Case& plan_case : plan.cases) {
        cases.push_back(&plan_case);
    }
    std::stable_sort(cases.begin(), cases.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
    return cases;
}

}  // namespace

struct Digest::State {
    SHA2_CTX context{};
};

Digest::Digest() : state_{std::make_unique<State>()}
{
    SHA256Init(&state_->context);
}

Digest::~Digest() = default;

void Digest::add(std::string_view bytes)
{
    SHA256Update(&state_->context, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string Digest::hex()
{
    std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
    SHA256End(&state_->context, text.data());
    return text.data();
}

std::string canonical_object(std::span<const OptionInfo> options, const void* object, const void* plain)
{
    return text_of(object_json(options, object, plain));
}

std::string sha256(std::string_view bytes)
{
    Digest digest;
    digest.add(bytes);
    return digest.hex();
}

void take_fingerprints(model::Plan& plan)
{
    const std::string header = canonical_header(plan);
    Digest whole;
    whole.add(fingerprint_version);
    add_line(whole, header);
    for (model::Case* plan_case : by_id(plan)) {
        const std::string text = canonical_case(*plan_case);
        add_line(whole, text);
        Digest digest;
        digest.add(fingerprint_version);
        add_line(digest, header);
        add_line(digest, text);
        plan_case->fingerprint = digest.hex();
    }
    for (const model::Assertion& assertion : plan.assertions) {
        add_line(whole, canonical_assertion(assertion));
    }
    plan.fingerprint = whole.hex();
}

}  // namespace memsweep::scenarios
