#include "scenarios/overrides.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/base/assert.hpp"

namespace memsweep::scenarios {
namespace {

class Bounds {
  public:
    Bounds(Sources& sources, Diagnostics& diagnostics) : sources_{sources}, diagnostics_{diagnostics} {}

    void check(std::string_view key, std::uint64_t value)
    {
        const auto options = settings_options();
        const auto option =
            std::find_if(options.begin(), options.end(), [&](const auto& one) { return one.name == key; });
        MEMSWEEP_ASSERT(option != options.end(), "every setting is in its option table");
        if (value < option->min || value > option->max) {
            const std::string shown =
                option->kind == OptionKind::duration ? fmt::format("{}ns", value) : fmt::format("{}", value);
            diagnostics_.add(sources_.flag(fmt::format("--{} {}", key, shown)),
                             fmt::format("must be {}", accepted(*option)));
        }
    }

  private:
    Sources& sources_;
    Diagnostics& diagnostics_;
};

}  // namespace

void override_settings(const Overrides& overrides, model::Settings& settings, Sources& sources,
                       Diagnostics& diagnostics)
{
    settings.repetitions = overrides.repetitions.value_or(settings.repetitions);
    settings.warmup = overrides.warmup.value_or(settings.warmup);
    settings.seed = overrides.seed.value_or(settings.seed);
    settings.isolation = overrides.isolation.value_or(settings.isolation);
    settings.timeout = overrides.timeout.value_or(settings.timeout);
    Bounds bounds{sources, diagnostics};
    if (overrides.repetitions) {
        bounds.check("repetitions", *overrides.repetitions);
    }
    if (overrides.warmup) {
        bounds.check("warmup", *overrides.warmup);
    }
    if (overrides.timeout) {
        bounds.check("timeout", static_cast<std::uint64_t>(overrides.timeout->count()));
    }
}

void override_safety(const Overrides& overrides, std::vector<model::Case>& cases)
{
    for (model::Case& plan_case : cases) {
        model::SafetySpec& safety = plan_case.release.safety;
        safety.detect = overrides.detect.value_or(safety.detect);
        safety.guard_pages = safety.guard_pages || overrides.guard_pages;
        safety.ignore_manual_free = safety.ignore_manual_free || overrides.ignore_manual_free;
    }
}

}  // namespace memsweep::scenarios
