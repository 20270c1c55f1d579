// Settings of allocators: what a scenario may say, and what becomes of it in the worker's environment.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/model/allocator.hpp"
#include "core/model/allocator_settings.hpp"
#include "scenarios/reader/case_reader.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::scenarios {
namespace {

struct NoDefaults {};

// The words of one setting each, for option rows, which ask a function for them.
template <std::size_t place>
std::vector<std::string_view> words_of_jemalloc()
{
    const auto settings = model::find_setting_style("jemalloc")->settings;
    std::size_t left = place;
    for (const model::AllocatorSetting& setting : settings) {
        if (setting.kind == model::SettingKind::word && left-- == 0) {
            return {setting.words.begin(), setting.words.end()};
        }
    }
    return {};
}
constexpr std::array word_lists{words_of_jemalloc<0>, words_of_jemalloc<1>, words_of_jemalloc<2>};

OptionInfo option_of(const model::AllocatorSetting& setting, std::size_t& words_before)
{
    using enum OptionKind;
    const auto bounded = [&](OptionKind kind) {
        return rows::key<NoDefaults>(setting.name, kind, setting.help).within(setting.min, setting.max).option;
    };
    switch (setting.kind) {
    case model::SettingKind::integer:
        return bounded(integer);
    case model::SettingKind::size:
    case model::SettingKind::mebibytes:
        return bounded(size);
    case model::SettingKind::duration:
        return bounded(duration);
    case model::SettingKind::toggle:
        return rows::key<NoDefaults>(setting.name, boolean, setting.help).option;
    case model::SettingKind::word:
        break;
    }
    return rows::key<NoDefaults>(setting.name, choice, setting.help).one_of(word_lists.at(words_before++)).option;
}

// What a scenario may say of an allocator.
struct AllocatorOptions {
    const model::SettingStyle* style{};
    std::vector<const model::AllocatorSetting*> settings;
    std::vector<OptionInfo> options;  // those of `settings`

    explicit AllocatorOptions(const model::SettingStyle& of) : style{&of}
    {
        std::size_t words_before = 0;
        for (const model::AllocatorSetting& setting : of.settings) {
            if (!setting.is_raw) {
                settings.push_back(&setting);
                options.push_back(option_of(setting, words_before));
            }
        }
    }
};

const std::vector<AllocatorOptions>& all_settings()
{
    static const std::vector<AllocatorOptions> all{model::allocator_settings().begin(),
                                                   model::allocator_settings().end()};
    return all;
}

const AllocatorOptions* find_settings(std::string_view allocator)
{
    const auto found =
        std::ranges::find(all_settings(), allocator, [](const AllocatorOptions& one) { return one.style->allocator; });
    return found == all_settings().end() ? nullptr : &*found;
}

model::Variables read_settings(const AllocatorOptions& allocator, const SourceNode& node, const Reading& reading)
{
    Fields fields{node, fmt::format("\"{}\"", allocator.style->allocator), reading};
    fields.check(allocator.options);
    std::vector<Value> values;
    std::vector<const model::AllocatorSetting*> given;
    for (std::size_t i = 0; i < allocator.settings.size(); ++i) {
        if (auto value = fields.value(allocator.options[i])) {  // empty: absent, or reported
            values.push_back(*std::move(value));
            given.push_back(allocator.settings[i]);
        }
    }
    std::vector<model::ChosenSetting> chosen;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const auto* const flag = std::get_if<bool>(&values[i]);
        const auto* const number = std::get_if<std::uint64_t>(&values[i]);
        chosen.push_back({given[i]->name, flag != nullptr     ? model::SettingValue{*flag}
                                          : number != nullptr ? model::SettingValue{*number}
                                                              : std::string_view{std::get<std::string>(values[i])}});
    }
    return model::to_variables(allocator.style->allocator, chosen);
}

}  // namespace

std::span<const OptionInfo> allocators_options()
{
    static const OptionTable<NoDefaults> table{
        rows::key<NoDefaults>("glibc", OptionKind::object, "GLIBC_TUNABLES"),
        rows::key<NoDefaults>("jemalloc", OptionKind::object, "MALLOC_CONF"),
        rows::key<NoDefaults>("mimalloc", OptionKind::object, "MIMALLOC_*"),
        rows::key<NoDefaults>("tcmalloc", OptionKind::object, "TCMALLOC_*"),
    };
    return table.options();
}

std::span<const OptionInfo> allocator_options(std::string_view allocator)
{
    const AllocatorOptions* const settings = find_settings(allocator);
    return settings == nullptr ? std::span<const OptionInfo>{} : std::span<const OptionInfo>{settings->options};
}

model::AllocatorSpec read_allocator(const SourceNode* node, const std::vector<model::Param>& params,
                                    const Reading& reading)
{
    model::AllocatorSpec spec;
    if (const model::Scalar* name = model::find_value(params, allocator_axis)) {
        spec.name = model::to_text(*name);
    }
    if (node == nullptr) {
        return spec;
    }
    Fields fields{*node, "\"allocators\"", reading};
    fields.check(allocators_options());
    for (const AllocatorOptions& one : all_settings()) {
        if (const SourceNode* settings = fields.raw(one.style->allocator)) {
            model::Variables variables = read_settings(one, *settings, reading);
            if (spec.name == one.style->allocator) {
                spec.environment = std::move(variables);
            }
        }
    }
    return spec;
}

}  // namespace memsweep::scenarios
