#include "scenarios/reader/gate_file.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/measure/thresholds.hpp"
#include "core/model/metric.hpp"
#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/files.hpp"
#include "scenarios/reader/quote.hpp"
#include "scenarios/reader/sources.hpp"

namespace memsweep::scenarios {
namespace {

constexpr std::string_view gate_format = "memsweep-gate";

struct GateKeys {};

Row<GateKeys> gate_key(std::string_view name, OptionKind kind, std::string_view help)
{
    return rows::key<GateKeys>(name, kind, help);
}

const OptionTable<GateKeys>& gate_table()
{
    using enum OptionKind;
    static const OptionTable<GateKeys> table{
        gate_key("$schema", text, "for editors; not read"),
        gate_key("format", text, "\"memsweep-gate\"").required(),
        rows::version_key<GateKeys>(),
        gate_key("description", text, "one sentence: for whom this gate is"),
        gate_key("only", list, "metrics to compare; default: all"),
        gate_key("informational", list, "metrics shown and never judged"),
        gate_key("thresholds", object, "metric names and what each may change: \"5%,1MiB\""),
    };
    return table;
}

class GateReader {
  public:
    LoadedGate run(const std::string& name, std::string_view text)
    {
        const Node* root = sources_.add(name, text);
        if (root != nullptr) {
            read_top(*root);
        }
        if (diagnostics_.count() > 0) {
            return tl::unexpected{diagnostics_.sorted()};
        }
        return std::move(gate_);
    }

  private:
    void read_top(const Node& root)
    {
        const Surroundings nothing;
        const Scope scope{nothing};
        Fields top{root, "a gate", {scope, diagnostics_}};
        if (!top.is_object() || !is_gate(top)) {
            return;
        }
        top.check(gate_table().options());
        std::uint64_t version{};
        top.read("version", version);
        std::string description;
        top.read("description", description);
        read_names(top, "only", gate_.only);
        read_names(top, "informational", gate_.informational);
        if (const Node* thresholds = top.raw("thresholds")) {
            read_thresholds(*thresholds);
        }
    }

    // One message that a scenario or a result is no gate, instead of one for each of its keys.
    bool is_gate(const Fields& top)
    {
        const Node* format = top.raw("format");
        const auto* name = format != nullptr ? format->as<std::string>() : nullptr;
        if (format == nullptr || (name != nullptr && *name == gate_format)) {
            return true;
        }
        diagnostics_.add(format->place,
                         fmt::format("\"format\" must be \"{}\", not {}", gate_format, describe(*format)));
        return false;
    }

    // Null, and said so, when no metric has that name.
    const model::MetricInfo* known_metric(const std::string& name, const Place& place)
    {
        const model::MetricInfo* info = model::find_metric(model::metric_catalog(), name);
        if (info == nullptr) {
            std::vector<std::string_view> known;
            for (const model::MetricInfo& one : model::metric_catalog()) {
                known.push_back(one.name);
            }
            diagnostics_.add(place, fmt::format("unknown metric {}{}", in_quotes(name), did_you_mean(name, known)));
        }
        return info;
    }

    void read_names(const Fields& top, std::string_view key, measure::MetricNames& into)
    {
        const Node* node = top.raw(key);
        if (node == nullptr) {
            return;
        }
        const List* names = node->as<List>();
        if (names == nullptr || names->empty()) {
            diagnostics_.add(node->place, fmt::format("\"{}\" must be a list of metric names, not {}", key,
                                                      names != nullptr ? "an empty one" : describe(*node)));
            return;
        }
        for (std::size_t i = 0; i < names->size() && !diagnostics_.full(); ++i) {
            read_name((*names)[i], key, into);
        }
    }

    void read_name(const Node& node, std::string_view key, measure::MetricNames& into)
    {
        const auto* name = node.as<std::string>();
        if (name == nullptr) {
            diagnostics_.add(node.place, fmt::format("\"{}\" holds metric names, not {}", key, describe(node)));
        } else if (known_metric(*name, node.place) != nullptr && !into.insert(*name).second) {
            diagnostics_.add(node.place, fmt::format("{} is there twice", in_quotes(*name)));
        }
    }

    void read_thresholds(const Node& node)
    {
        const Object* thresholds = node.as<Object>();
        if (thresholds == nullptr) {
            diagnostics_.add(node.place, fmt::format("\"thresholds\" must be an object, not {}", describe(node)));
            return;
        }
        for (std::size_t i = 0; i < thresholds->size() && !diagnostics_.full(); ++i) {
            read_threshold((*thresholds)[i]);
        }
    }

    void read_threshold(const Member& member)
    {
        const model::MetricInfo* metric = known_metric(member.key, member.key_place);
        if (metric == nullptr) {
            return;
        }
        const auto* text = member.value.as<std::string>();
        if (text == nullptr) {
            diagnostics_.add(
                member.value.place,
                fmt::format("a threshold is text such as \"5%\" or \"2%,1MiB\", not {}", describe(member.value)));
            return;
        }
        const auto threshold = measure::parse_threshold(*text, metric->unit);
        if (!threshold) {
            diagnostics_.add(member.value.place, threshold.error().message);
            return;
        }
        gate_.thresholds.emplace(member.key, *threshold);
    }

    Diagnostics diagnostics_;
    Sources sources_{diagnostics_};
    measure::Criteria gate_;
};

}  // namespace

LoadedGate load_gate(const std::string& path)
{
    const auto text = read_text_file(path);
    if (!text) {
        return tl::unexpected{std::vector<base::Error>{text.error()}};
    }
    return load_gate_text(path == "-" ? "<stdin>" : path, *text);
}

LoadedGate load_gate_text(const std::string& name, std::string_view text)
{
    return GateReader{}.run(name, text);
}

}  // namespace memsweep::scenarios
