#include "scenarios/replay_plan.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/allocator.hpp"
#include "core/model/driver_memory.hpp"
#include "scenarios/fingerprint.hpp"
#include "scenarios/quote.hpp"

namespace memsweep::scenarios {
namespace {

using nlohmann::ordered_json;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr std::string_view arena = "arena";

// Targets that are no allocator of a library.
struct PoolTarget {
    std::string_view name;
    std::string_view memory;  // of the scenario
    std::string_view meaning;
};
constexpr std::array pool_targets{
    PoolTarget{"null", R"({"resource": "null"})", "no memory at all: what the replay itself costs"},
    PoolTarget{"pool", R"({"pool": {"kind": "classes"}})", "the class pool: four classes per doubling, thread caches"},
    PoolTarget{"pool:tls", R"({"pool": {"kind": "classes"}})", "the same by another name"},
    PoolTarget{"pool:pow2", R"({"pool": {"kind": "classes", "classes": "pow2"}})", "classes at powers of two"},
    PoolTarget{"pool:quad", R"({"pool": {"kind": "classes", "classes": "quad"}})", "four classes per doubling"},
    PoolTarget{"pool:exact", R"({"pool": {"kind": "classes", "classes": "exact"}})", "a class per size"},
    PoolTarget{"pool:striped", R"({"pool": {"kind": "classes", "topology": "striped"}})", "stripes instead of caches"},
    PoolTarget{"best_fit", R"({"pool": {"kind": "best_fit"}})", "chunks, the smallest range that fits, coalesced"},
    PoolTarget{"tlsf", R"({"pool": {"kind": "tlsf"}})", "chunks, two levels of bitmaps, coalesced"},
    PoolTarget{arena, "{}", "bumped, and freed as a whole at the end"},
    PoolTarget{"pages", R"({"resource": "pages"})", "a mapping of its own for every block"},
    PoolTarget{"memfd", R"({"resource": "memfd"})", "the same of shared memory"},
};

const PoolTarget* find_pool(std::string_view name)
{
    const auto found = std::ranges::find(pool_targets, name, &PoolTarget::name);
    return found == pool_targets.end() ? nullptr : &*found;
}

// Memory of a device's driver, alone or below a pool: KIND, POOL@KIND, either with @gpuN behind it.
struct DriverTarget {
    const PoolTarget* pool{};  // nullptr: none
    model::ResourceKind kind{};
    std::string device{"gpu0"};
};

std::optional<DriverTarget> find_driver(std::string_view name)
{
    DriverTarget target;
    if (const std::size_t at = name.rfind("@gpu"); at != std::string_view::npos) {
        target.device = name.substr(at + 1);
        name = name.substr(0, at);
    }
    if (const std::size_t at = name.find('@'); at != std::string_view::npos) {
        target.pool = find_pool(name.substr(0, at));
        if (target.pool == nullptr || !ordered_json::parse(target.pool->memory).contains("pool")) {
            return std::nullopt;
        }
        name = name.substr(at + 1);
    }
    const auto kind = model::value_of<model::ResourceKind>(name);
    if (!kind || !model::is_from_driver(*kind)) {
        return std::nullopt;
    }
    target.kind = *kind;
    return target;
}

ordered_json memory_json(std::string_view on)
{
    if (const auto driver = find_driver(on)) {
        ordered_json memory =
            driver->pool == nullptr ? ordered_json::object() : ordered_json::parse(driver->pool->memory);
        memory["resource"] = model::name_of(driver->kind);
        memory["device"] = driver->device;
        return memory;
    }
    const PoolTarget* const pool = find_pool(on);
    return pool == nullptr ? ordered_json::object() : ordered_json::parse(pool->memory);
}

bool is_touchable(std::string_view on)
{
    const auto driver = find_driver(on);
    return driver ? !model::is_beyond_reach(driver->kind) : on != "null";
}

bool is_known(std::string_view name)
{
    return find_pool(name) != nullptr || find_driver(name) || model::find_allocator(name) != nullptr ||
           model::is_library_path(name);
}

// The retained bytes are looked at at these times after the end, as far as they are watched.
struct Look {
    std::string_view sample;
    nanoseconds after;
};
constexpr std::array looks{Look{"retained_0s", nanoseconds{0}}, Look{"retained_100ms", milliseconds{100}},
                           Look{"retained_1s", milliseconds{1000}}, Look{"retained_5s", milliseconds{5000}}};

ordered_json release_json(const ReplayRequest& request, std::string_view text)
{
    const std::size_t colon = text.find(':');
    ordered_json release = ordered_json::object();
    release["mode"] = text.substr(0, colon);
    model::ReleaseSpec spec;
    spec.mode = model::value_of<model::ReleaseMode>(text.substr(0, colon)).value_or(model::ReleaseMode::refcount);
    if (colon != std::string_view::npos) {
        release["profile"] = text.substr(colon + 1);
    } else if (model::is_collected(spec)) {
        release["collect_every"] = request.collect_every;
    }
    if (text == arena) {
        release["bump_alignment"] = "16";
    }
    return release;
}

ordered_json operation(std::string_view name)
{
    ordered_json step = ordered_json::object();
    step["op"] = name;
    return step;
}

ordered_json sample(std::string_view name)
{
    ordered_json step = operation("sample");
    step["name"] = name;
    return step;
}

// An arena's blocks end with a scope.
ordered_json within(std::string_view release, const ordered_json& step)
{
    if (release != arena) {
        return step;
    }
    ordered_json scope = operation("scope");
    scope["steps"] = ordered_json::array();
    scope["steps"].push_back(step);
    return scope;
}

ordered_json steps_json(const ReplayRequest& request, std::uint32_t threads, std::string_view on,
                        std::string_view release)
{
    ordered_json replay = operation("replay");
    replay["trace"] = request.trace;
    replay["threads"] = threads;
    replay["speed"] = model::name_of(request.speed);
    replay["phase"] = "replay";
    replay["timed"] = true;
    if (is_touchable(on)) {
        replay["touch"] = model::name_of(request.touch);
    }
    ordered_json steps = ordered_json::array();
    steps.push_back(within(release, replay));
    if (release != "immediate" && release != arena) {
        steps.push_back(operation("collect"));
        steps.push_back(operation("drain"));
    }
    nanoseconds now{0};
    for (const Look& look : looks) {
        if (look.after > request.settle) {
            break;
        }
        if (look.after > now) {
            ordered_json idle = operation("idle");
            idle["duration"] = fmt::format("{}ms", (look.after - now) / milliseconds{1});
            steps.push_back(std::move(idle));
            now = look.after;
        }
        steps.push_back(sample(look.sample));
    }
    steps.push_back(operation("purge"));
    steps.push_back(sample("retained_trimmed"));
    if (request.latency) {
        replay["latency"] = true;
        replay["timed"] = false;
        replay["phase"] = "replay_timing_calls";
        steps.push_back(within(release, replay));
    }
    return steps;
}

std::string scenario_text(const ReplayRequest& request, const std::string& on, std::string_view release,
                          std::uint32_t threads)
{
    const ordered_json scenario{
        {"format", "memsweep-scenario"},
        {"version", 1},
        {"name", "replay"},
        {"description", "A recorded program's allocations and frees, on each allocator, pool and release mode."},
        {"repetitions", request.repetitions},
        {"warmup", request.warmup},
        {"timeout", fmt::format("{}ms", request.timeout / milliseconds{1})},
        {"memory", memory_json(on)},
        {"release", release_json(request, release)},
        {"steps", steps_json(request, threads, on, release)}};
    return scenario.dump();
}

std::vector<base::Error> unknown_names(const ReplayRequest& request)
{
    std::vector<base::Error> errors;
    for (const std::string& name : request.on) {
        if (!is_known(name)) {
            std::vector<std::string_view> known = model::allocator_names();
            std::ranges::transform(pool_targets, std::back_inserter(known), &PoolTarget::name);
            std::ranges::copy_if(model::all_names<model::ResourceKind>(), std::back_inserter(known),
                                 [](std::string_view kind) { return find_driver(kind).has_value(); });
            errors.push_back({base::ErrorCode::invalid_input,
                              fmt::format("{} is no allocator, pool, library or memory of a device{}", in_quotes(name),
                                          did_you_mean(name, known)),
                              "--on"});
        }
    }
    for (const std::string& name : request.release) {
        const std::string_view mode = std::string_view{name}.substr(0, name.find(':'));
        if (!model::value_of<model::ReleaseMode>(mode)) {
            errors.push_back({base::ErrorCode::invalid_input,
                              fmt::format("{} is no release mode{}", in_quotes(mode),
                                          did_you_mean(mode, model::all_names<model::ReleaseMode>())),
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
        const auto facts = surroundings_.look_at_trace(request_.trace);
        if (!facts) {
            return tl::unexpected{std::vector<base::Error>{facts.error()}};
        }
        recorded_threads_ = facts->threads;
        for (const std::string& on : request_.on) {
            for (const std::string& release : releases_of(request_, on)) {
                for (const std::uint32_t threads : request_.threads) {
                    if (auto errors = add(on, release, threads); !errors.empty()) {
                        return tl::unexpected{std::move(errors)};
                    }
                }
            }
        }
        plan_->path = request_.trace;
        plan_->fingerprint = sha256(fingerprints_);
        plan_->sha256 = facts->content;
        plan_->axes = axes();
        return *std::move(plan_);
    }

  private:
    std::vector<base::Error> add(const std::string& on, const std::string& release, std::uint32_t threads)
    {
        const std::string text = scenario_text(request_, on, release, threads);
        Loaded loaded = load_text(fmt::format("replay on {} with release {}", on, release), text, {}, surroundings_);
        if (!loaded) {
            // The places lie in a text that the user has never seen.
            std::vector<base::Error> errors = std::move(loaded.error());
            for (base::Error& error : errors) {
                error.where = fmt::format("--on {} --release {}", on, release);
            }
            return errors;
        }
        model::Case one = std::move(loaded->cases.front());
        const std::uint64_t shown = threads == 0 ? recorded_threads_ : threads;
        one.params = {{"on", on}, {"release", release}, {"threads", static_cast<std::int64_t>(shown)}};
        one.id = model::case_id("replay", one.params);
        if (find_pool(on) == nullptr && !find_driver(on)) {
            one.allocator.name = on;
        }
        fingerprints_ += fmt::format("{} {}\n", one.id, loaded->fingerprint);
        if (!plan_) {
            plan_ = std::move(*loaded);
            plan_->cases.clear();
        }
        const bool again =
            std::ranges::any_of(plan_->cases, [&](const model::Case& other) { return other.id == one.id; });
        if (!again) {
            plan_->cases.push_back(std::move(one));
        }
        return {};
    }

    [[nodiscard]] std::vector<model::Axis> axes() const
    {
        std::vector<model::Axis> axes{{"on", {}}, {"release", {}}, {"threads", {}}};
        for (const model::Case& one : plan_->cases) {
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
    std::uint64_t recorded_threads_{};
    std::string fingerprints_;
    std::optional<model::Plan> plan_;
};

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> replay_targets()
{
    std::vector<std::pair<std::string_view, std::string_view>> targets;
    for (const model::KnownAllocator& allocator : model::allocators()) {
        targets.emplace_back(allocator.name, allocator.meaning);
    }
    for (const PoolTarget& pool : pool_targets) {
        targets.emplace_back(pool.name, pool.meaning);
    }
    for (const auto& kind : model::names<model::ResourceKind>()) {
        if (model::is_from_driver(kind.value)) {
            targets.emplace_back(kind.name, kind.meaning);
        }
    }
    return targets;
}

Loaded replay_plan(const ReplayRequest& request, const Surroundings& surroundings)
{
    if (auto errors = unknown_names(request); !errors.empty()) {
        return tl::unexpected{std::move(errors)};
    }
    return PlanMaker{request, surroundings}.make();
}

}  // namespace memsweep::scenarios
