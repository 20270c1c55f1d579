#include "scenarios/reader/replay_plan.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.hpp"
#include "core/model/allocator.hpp"
#include "core/model/allocator_settings.hpp"
#include "core/model/metric_id.hpp"
#include "core/model/plan.hpp"
#include "core/model/specs.hpp"
#include "scenarios/reader/case_reader.hpp"
#include "scenarios/reader/fingerprint.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/step_reader.hpp"

namespace memsweep::scenarios {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::string_view arena = "arena";

// Targets that are no allocator of a library.
struct PoolTarget {
    std::string_view name;
    model::MemorySpec memory;
};

using model::ClassScheme;
using model::PoolKind;
using model::ResourceKind;

constexpr auto pool_targets = std::to_array<PoolTarget>({
    {"null", {.resource = ResourceKind::null}},
    {"pool", {.pool = {.kind = PoolKind::classes}}},
    {"pool:tls", {.pool = {.kind = PoolKind::classes}}},  // the same by another name
    {"pool:pow2", {.pool = {.kind = PoolKind::classes, .classes = ClassScheme::pow2}}},
    {"pool:quad", {.pool = {.kind = PoolKind::classes, .classes = ClassScheme::quad}}},
    {"pool:exact", {.pool = {.kind = PoolKind::classes, .classes = ClassScheme::exact}}},
    {"pool:striped", {.pool = {.kind = PoolKind::classes, .topology = model::PoolTopology::striped}}},
    {"best_fit", {.pool = {.kind = PoolKind::best_fit}}},
    {"tlsf", {.pool = {.kind = PoolKind::tlsf}}},
    {arena, {}},
    {"pages", {.resource = ResourceKind::pages}},
    {"memfd", {.resource = ResourceKind::memfd}},
});

const PoolTarget* find_pool(std::string_view name)
{
    const auto found = std::ranges::find(pool_targets, name, &PoolTarget::name);
    return found == pool_targets.end() ? nullptr : &*found;
}

std::optional<model::MemorySpec> driver_memory(std::string_view text)
{
    const model::DriverMemoryName name = model::driver_memory_name(text);
    model::MemorySpec memory;
    if (name.pool) {
        const PoolTarget* const pool = find_pool(*name.pool);
        if (pool == nullptr || pool->memory.pool.kind == PoolKind::none) {
            return std::nullopt;
        }
        memory = pool->memory;
    }
    const auto kind = model::value_of<ResourceKind>(name.kind);
    if (!kind || !model::is_from_driver(*kind)) {
        return std::nullopt;
    }
    memory.resource = *kind;
    if (!name.device.empty()) {
        const auto number = device_number(name.device);
        if (!number) {
            return std::nullopt;
        }
        memory.device = *number;
    }
    return memory;
}

model::MemorySpec memory_of(std::string_view on)
{
    if (const auto driver = driver_memory(on)) {
        return *driver;
    }
    const PoolTarget* const pool = find_pool(on);
    return pool == nullptr ? model::MemorySpec{} : pool->memory;
}

// Without its settings: "jemalloc" of "jemalloc{dirty_decay=0s}".
std::string_view target_of(std::string_view on)
{
    return on.substr(0, on.find('{'));
}

// These give nothing back because time goes by.
bool is_unmoved_by_time(std::string_view on)
{
    const std::string_view name = target_of(on);
    return name == "glibc" || name == "tcmalloc" ||
           (model::find_allocator(name) == nullptr && !model::is_library_path(name));
}

nanoseconds idle_time(const ReplayRequest& request, std::string_view on)
{
    return request.settle.value_or(is_unmoved_by_time(on) ? std::chrono::seconds{1} : std::chrono::seconds{12});
}

// "dirty_decay=0s,tcache=false" as the settings of a scenario file.
std::string settings_text(std::string_view allocator, std::string_view settings)
{
    std::string text;
    while (!settings.empty()) {
        const std::size_t comma = std::min(settings.find(','), settings.size());
        const std::string_view setting = settings.substr(0, comma);
        settings.remove_prefix(std::min(comma + 1, settings.size()));
        const std::size_t equals = std::min(setting.find('='), setting.size());
        const std::string_view value = setting.substr(std::min(equals + 1, setting.size()));
        const bool is_bare = value == "true" || value == "false" || base::parse_number(value).has_value();
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", in_quotes(setting.substr(0, equals)),
                            is_bare ? std::string{value} : in_quotes(value));
    }
    return fmt::format("{{{}: {{{}}}}}", in_quotes(allocator), text);
}

// Variables of the caller's environment that are for the allocator, and settings of its own, which win.
model::Variables joined(const model::Variables& callers, std::string_view allocator, const model::Variables& own)
{
    model::Variables all;
    for (const auto& [name, value] : callers) {
        if (model::allocator_set_by(name) == allocator || model::is_library_path(allocator)) {
            all.emplace_back(name, value);
        }
    }
    for (const auto& [name, value] : own) {
        model::add_variable(all, name, value);
    }
    return all;
}

bool is_known(std::string_view on)
{
    const std::string_view name = target_of(on);
    if (name.size() != on.size() && (!on.ends_with('}') || allocator_options(name).empty())) {
        return false;
    }
    return find_pool(name) != nullptr || driver_memory(name) || model::find_allocator(name) != nullptr ||
           model::is_library_path(name);
}

// The retained bytes are looked at at these times after the end, as far as they are watched.
struct Look {
    std::string_view sample;
    nanoseconds after;
};
constexpr std::array looks{
    Look{model::metrics::retained_0s, nanoseconds{0}}, Look{model::metrics::retained_100ms, milliseconds{100}},
    Look{model::metrics::retained_1s, milliseconds{1000}}, Look{model::metrics::retained_5s, milliseconds{5000}}};

model::Step step_of(model::Operation operation)
{
    return {std::move(operation), {}, false, {}};
}

// An arena's blocks end with a scope.
model::Step within(std::string_view release, model::Step step)
{
    return release == arena ? step_of(model::ScopeStep{{std::move(step)}}) : step;
}

std::vector<model::Step> steps_of(const ReplayRequest& request, const model::ReplayStep& replay,
                                  std::string_view release)
{
    std::vector<model::Step> steps{within(release, {replay, "replay", true, {}})};
    if (release != "immediate" && release != arena) {
        steps.push_back(step_of(model::CollectStep{}));
        steps.push_back(step_of(model::DrainStep{}));
    }
    nanoseconds now{0};
    for (const Look& look : looks) {
        if (look.after > request.settle.value_or(looks.back().after)) {
            break;
        }
        if (look.after > now) {
            steps.push_back(step_of(model::IdleStep{look.after - now}));
            now = look.after;
        }
        steps.push_back(step_of(model::SampleStep{std::string{look.sample}, false}));
    }
    steps.push_back(step_of(model::PurgeStep{}));
    steps.push_back(step_of(model::SampleStep{std::string{model::metrics::retained_trimmed}, false}));
    if (request.latency) {
        model::ReplayStep timing = replay;
        timing.latency = true;
        timing.settle = {};
        steps.push_back(within(release, {std::move(timing), "replay_timing_calls", false, {}}));
    }
    return steps;
}

std::vector<base::Error> unknown_names(const ReplayRequest& request)
{
    std::vector<base::Error> errors;
    for (const std::string& name : request.on) {
        const std::size_t device = name.rfind("@gpu");
        if (!is_known(name) && device != std::string::npos && driver_memory(name.substr(0, device))) {
            errors.push_back({base::ErrorCode::invalid_input,
                              fmt::format("{} names one device, as in \"gpu0\", not {}", in_quotes(name),
                                          in_quotes(name.substr(device + 1))),
                              "--on"});
        } else if (!is_known(name)) {
            std::vector<std::string_view> known = model::allocator_names();
            std::ranges::transform(pool_targets, std::back_inserter(known), &PoolTarget::name);
            std::ranges::copy_if(model::all_names<ResourceKind>(), std::back_inserter(known),
                                 [](std::string_view kind) { return driver_memory(kind).has_value(); });
            errors.push_back({base::ErrorCode::invalid_input,
                              name.find('{') != std::string::npos && !allocator_options(target_of(name)).empty()
                                  ? fmt::format("{} lacks the closing brace of its settings", in_quotes(name))
                              : name.find('{') != std::string::npos && model::find_allocator(target_of(name)) == nullptr
                                  ? fmt::format("{} takes no settings: only glibc, jemalloc, mimalloc and tcmalloc do",
                                                in_quotes(target_of(name)))
                                  : fmt::format("{} is no allocator, pool, library or memory of a device{}",
                                                in_quotes(name), base::suggestion(name, known)),
                              "--on"});
        }
    }
    for (const std::string& name : request.release) {
        const std::string_view mode = std::string_view{name}.substr(0, name.find(':'));
        if (!model::value_of<model::ReleaseMode>(mode)) {
            errors.push_back({base::ErrorCode::invalid_input,
                              fmt::format("{} is no release mode{}", in_quotes(mode),
                                          base::suggestion(mode, model::all_names<model::ReleaseMode>())),
                              "--release"});
        }
    }
    return errors;
}

// An arena frees nothing before its end, and no memory has nothing to release: each is one case.
std::vector<std::string> releases_of(const ReplayRequest& request, const std::string& on)
{
    if (on == arena) {
        return {std::string{arena}};
    }
    return on == "null" ? std::vector<std::string>{"immediate"} : request.release;
}

class PlanMaker {
  public:
    PlanMaker(const ReplayRequest& request, const Surroundings& surroundings)
        : request_{request}, surroundings_{surroundings}
    {
    }

    Loaded make()
    {
        auto facts = surroundings_.look_at_trace(request_.trace);
        if (!facts) {
            return tl::unexpected{std::vector<base::Error>{facts.error()}};
        }
        facts_ = *std::move(facts);
        plan_.name = "replay";
        plan_.description = "A recorded program's allocations and frees, on each allocator, pool and release mode.";
        if (const std::string part = part_of_trace(); !part.empty()) {
            plan_.description += fmt::format(" Of the trace: {}.", part);
        }
        plan_.settings.repetitions = request_.repetitions;
        plan_.settings.warmup = request_.warmup;
        plan_.settings.timeout = request_.timeout;
        check_bounds(settings_table(), {plan_.settings, {}}, sources_.flag("replay"));
        for (const std::string& release : request_.release) {  // those too that no target of --on makes use of
            model::Case any;
            read_release(release, sources_.flag("--release " + release), any);
            if (diagnostics_.count() > 0) {
                return tl::unexpected{diagnostics_.sorted()};
            }
        }
        for (const std::string& on : request_.on) {
            for (const std::string& release : releases_of(request_, on)) {
                for (const std::uint32_t threads : request_.threads) {
                    add(on, release, threads);
                    if (diagnostics_.count() > 0) {
                        return tl::unexpected{diagnostics_.sorted()};
                    }
                }
            }
        }
        plan_.path = request_.trace;
        plan_.fingerprint = sha256(fingerprints_);
        plan_.sha256 = facts_.content;
        plan_.axes = axes();
        return std::move(plan_);
    }

  private:
    void add(const std::string& on, const std::string& release, std::uint32_t threads)
    {
        const Place flag = sources_.flag(fmt::format("--on {} --release {}", on, release));
        model::Case one;
        one.scenario = plan_.name;
        one.id = plan_.name;
        one.memory = memory_of(on);
        read_release(release, flag, one);
        model::ReplayStep replay;
        replay.threads = threads;
        replay.speed = request_.speed;
        replay.left_out = request_.left_out;
        replay.until = request_.until;
        replay.settle = idle_time(request_, on);
        const bool asked = model::touch_objection(one.memory.resource).empty();
        replay.touch = asked ? request_.touch : model::ReplayTouch::recorded;
        check_bounds(operation_options("replay"), &replay, flag);
        for (auto& [key, why] : settle_replay(replay, facts_, one.memory, one.release, asked)) {
            diagnostics_.add(flag, std::move(why));
        }
        for (std::string& why : memory_objections(one.memory, one.release)) {
            diagnostics_.add(flag, std::move(why));
        }
        one.work = steps_of(request_, replay, release);
        one.fingerprint = fingerprint_of(one);
        if (const std::string part = part_of_trace(); !part.empty()) {
            one.fingerprint = sha256(one.fingerprint + part);
        }
        name(one, on, release, threads);
        read_settings(on, flag, one);
        fingerprints_ += fmt::format("{} {}\n", one.id, one.fingerprint);
        const bool again =
            std::ranges::any_of(plan_.cases, [&](const model::Case& other) { return other.id == one.id; });
        if (!again) {
            plan_.cases.push_back(std::move(one));
        }
    }

    // MODE, or MODE:PROFILE.
    void read_release(std::string_view text, const Place& flag, model::Case& one)
    {
        const std::size_t colon = text.find(':');
        if (colon != std::string_view::npos) {
            const Scope scope{surroundings_};
            releases_.read_profile(std::string{text.substr(colon + 1)}, flag, {scope, diagnostics_}, one);
        }
        const model::ReleaseMode own_mode = one.release.mode;  // the profile's, where there is one
        const auto mode = model::value_of<model::ReleaseMode>(text.substr(0, colon));
        one.release.mode = mode.value_or(model::ReleaseMode::refcount);
        if (colon != std::string_view::npos && own_mode != one.release.mode && !model::is_collected(one.release)) {
            diagnostics_.add(flag, fmt::format("{} takes no profile of {}: nothing is collected in this mode; profiles "
                                               "are for {}",
                                               in_quotes(text.substr(0, colon)), model::name_of(own_mode),
                                               fmt::join(collected_modes(own_mode), ", ")));
        }
        if (colon == std::string_view::npos && model::is_collected(one.release)) {
            one.release.collect_every = request_.collect_every;
        }
        if (text == arena) {
            one.release.arena.alignment = 16;
        }
        check_bounds(release_table(), one.release, flag);
    }

    // Modes that collect, and the one that a profile is of.
    static std::vector<std::string_view> collected_modes(model::ReleaseMode own)
    {
        std::vector<std::string_view> modes;
        for (const auto& mode : model::names<model::ReleaseMode>()) {
            if (mode.value == own || model::is_collected(model::ReleaseSpec{.mode = mode.value})) {
                modes.push_back(mode.name);
            }
        }
        return modes;
    }

    // What is replayed of it; empty: all.
    [[nodiscard]] std::string part_of_trace() const
    {
        std::string part;
        for (const std::string& site : request_.without) {
            part += fmt::format("{}without {}", part.empty() ? "" : ", ", site);
        }
        if (!request_.until.empty()) {
            part += fmt::format("{}until {}", part.empty() ? "" : ", ", request_.until);
        }
        return part;
    }

    // The fingerprint that a scenario file with this case alone would have.
    [[nodiscard]] std::string fingerprint_of(const model::Case& one) const
    {
        model::Plan alone;
        alone.name = plan_.name;
        alone.cases.push_back(one);
        take_fingerprints(alone);
        return alone.fingerprint;
    }

    void name(model::Case& one, const std::string& on, const std::string& release, std::uint32_t threads) const
    {
        const std::uint64_t shown = threads == 0 ? facts_.threads : threads;
        one.params = {{"on", on}, {"release", release}, {"threads", static_cast<std::int64_t>(shown)}};
        one.id = model::case_id(plan_.name, one.params);
        if (find_pool(on) == nullptr && !driver_memory(on)) {
            one.allocator.name = target_of(on);
        }
    }

    void read_settings(const std::string& on, const Place& flag, model::Case& one)
    {
        if (one.allocator.name.empty()) {
            return;
        }
        model::Variables own;
        if (const std::string_view name = target_of(on); name.size() != on.size()) {
            const std::string_view inner{on.data() + name.size() + 1, on.size() - name.size() - 2};
            const auto node = parse_source(flag, settings_text(name, inner), diagnostics_);
            if (node) {
                const Scope scope{surroundings_};
                own = read_allocator(&*node, {{std::string{allocator_axis}, one.allocator.name}}, {scope, diagnostics_})
                          .environment;
            }
        }
        one.allocator.environment = joined(request_.environment, one.allocator.name, own);
    }

    template <typename Object>
    void check_bounds(const OptionTable<Object>& table, const Object& object, const Place& place)
    {
        check_bounds(table.options(), &object, place);
    }
    void check_bounds(std::span<const OptionInfo> options, const void* object, const Place& place)
    {
        for (std::string& why : out_of_bounds(options, object)) {
            diagnostics_.add(place, std::move(why));
        }
    }

    [[nodiscard]] std::vector<model::Axis> axes() const
    {
        std::vector<model::Axis> axes{{"on", {}}, {"release", {}}, {"threads", {}}};
        for (const model::Case& one : plan_.cases) {
            for (std::size_t i = 0; i < axes.size(); ++i) {
                if (std::ranges::find(axes[i].values, one.params[i].value) == axes[i].values.end()) {
                    axes[i].values.push_back(one.params[i].value);
                }
            }
        }
        return axes;
    }

    const ReplayRequest& request_;
    const Surroundings& surroundings_;
    Diagnostics diagnostics_;
    Sources sources_{diagnostics_};
    ReleaseReader releases_{sources_};
    TraceFacts facts_;
    std::string fingerprints_;  // the cases' fingerprints
    model::Plan plan_;
};

}  // namespace

Loaded replay_plan(const ReplayRequest& request, const Surroundings& surroundings)
{
    if (auto errors = unknown_names(request); !errors.empty()) {
        return tl::unexpected{std::move(errors)};
    }
    return PlanMaker{request, surroundings}.make();
}

}  // namespace memsweep::scenarios
