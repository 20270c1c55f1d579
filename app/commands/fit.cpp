#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "app/commands/traces.hpp"
#include "core/trace/fit.hpp"
#include "core/trace/pytorch_fit.hpp"
#include "reporters/document/fit.hpp"
#include "reporters/document/pytorch_fit.hpp"
#include "reporters/html/html_writer.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/terminal/terminal_writer.hpp"
#include "reporters/wording/trace_words.hpp"

namespace memsweep::app {
namespace {

struct FitCommand {
    std::string trace;
    std::string format{"text"};
    std::string out;
    std::vector<std::string> policies;  // empty: all
    std::optional<std::uint64_t> capacity_bytes;
    std::string capacity_text;            // as it was asked for
    std::optional<trace::Memory> memory;  // empty: all that the trace has
    std::optional<std::uint64_t> alignment_bytes;
    std::uint64_t runs{1};
    bool is_pytorch{};
    std::vector<trace::PyTorchSettings> settings;  // to try beside those that are always tried
};

constexpr std::uint64_t host_alignment_bytes = 16;     // malloc's
constexpr std::uint64_t device_alignment_bytes = 256;  // cudaMalloc's

std::vector<trace::PlacementPolicy> wanted_policies(const FitCommand& command)
{
    std::vector<trace::PlacementPolicy> wanted;
    std::ranges::copy_if(trace::placement_policies(), std::back_inserter(wanted), [&](const auto& policy) {
        return command.policies.empty() || std::ranges::find(command.policies, policy.name) != command.policies.end();
    });
    return wanted;
}

// Each policy in the smallest capacity that suffices.
std::vector<reporters::PolicyPicture> pictures_of(const reporters::FitReport& report, const trace::PlacementOps& ops)
{
    constexpr std::size_t columns = 96;
    constexpr std::size_t rows = 64;
    std::vector<reporters::PolicyPicture> pictures;
    for (const trace::PolicyFit& fit : report.policies) {
        const auto policy = std::ranges::find(trace::placement_policies(), fit.policy, &trace::PlacementPolicy::name);
        trace::FitOptions options = report.options;
        options.capacity = fit.capacity;
        if (auto picture = trace::picture_addresses(ops, *policy, options, columns, rows)) {
            pictures.push_back({std::string{fit.policy}, *std::move(picture)});
        }
    }
    return pictures;
}

std::string text_of(const FitCommand& command, reporters::FitReport& report, const trace::PlacementOps& ops,
                    const GlobalOptions& global)
{
    if (command.format == "json") {
        return reporters::to_json(report);
    }
    if (command.format == "html") {
        report.pictures = pictures_of(report, ops);
        return reporters::to_html(report);
    }
    return reporters::to_terminal(report, terminal_style(global));
}

base::Expected<void> read_capacity(FitCommand& command, const std::string& given)
{
    command.capacity_bytes = MEMSWEEP_TRY(base::parse_size(given));
    const std::size_t unit = given.find_first_not_of("0123456789.");
    command.capacity_text = unit == std::string::npos ? given + " B" : given.substr(0, unit) + " " + given.substr(unit);
    return {};
}

base::Expected<void> read_memory(FitCommand& command, const std::string& given)
{
    command.memory = trace::Memory{};
    if (given != "host") {
        command.memory->device = static_cast<std::uint32_t>(MEMSWEEP_TRY(value::whole_number(given, 0, UINT32_MAX)));
    }
    return {};
}

std::string name_of(const trace::Memory& memory)
{
    return memory.device ? fmt::format("device {}", *memory.device) : std::string{"the host"};
}

// Bytes of one memory are no help to another: they are fitted apart.
base::Expected<void> check_memories(const FitCommand& command, const trace::PlacementOps& ops)
{
    std::string names;
    for (const trace::Memory& memory : ops.memories) {
        names += (names.empty() ? "" : ", ") + name_of(memory);
    }
    if (!command.memory && ops.memories.size() > 1) {
        return refuse(fmt::format("the trace has blocks in {} memories, which hold nothing for each other ({}): "
                                  "--device N, or --device host, chooses one",
                                  ops.memories.size(), names),
                      command.trace);
    }
    if (command.memory && !ops.memories.contains(*command.memory) && (command.memory->device || !names.empty())) {
        return refuse(
            fmt::format("the trace has no block there{}", names.empty() ? names : "; it has them on " + names),
            "--device");
    }
    return {};
}

std::uint64_t count_in(const trace::Facts& facts, const char* name)
{
    const auto fact = facts.find(name);
    return fact == facts.end() ? 0 : base::parse_number(fact->second).value_or(0);
}

std::string counted(std::uint64_t count, const char* one, const char* many)
{
    return fmt::format("{} {}", base::format_count(static_cast<double>(count)), count == 1 ? one : many);
}

std::string refusal_text(const trace::PlacementOps& ops)
{
    std::string text = counted(ops.refusals, "request was refused", "requests were refused");
    if (ops.refused) {
        text += fmt::format(", the {} of event {} while {} were live: counted as granted and freed at once",
                            base::format_size(ops.refused->size),
                            base::format_count(static_cast<double>(ops.refused->event)),
                            base::format_size(ops.refused->live_bytes));
    }
    if (ops.senseless_refusals != 0) {
        text += fmt::format("; {} for more than 64 PiB, left out", ops.senseless_refusals);
    }
    return text + ". What would have followed is not in the trace";
}

// Whatever the trace does not have of what was done.
template <typename Report>
void add_caveats(const trace::PlacementOps& ops, const trace::Facts& facts, Report& report)
{
    const auto least = [&](std::string caveat) {
        report.is_least = true;
        report.caveats.push_back(std::move(caveat));
    };
    if (ops.refusals > ops.senseless_refusals) {
        least(refusal_text(ops));
    } else if (ops.refusals != 0) {
        report.caveats.push_back(refusal_text(ops));
    }
    const std::uint64_t ghosts = count_in(facts, trace::ghosts_fact);
    const auto beginning = facts.find(trace::beginning_fact);
    const std::string mapped = ops.mapped_peak == 0 ? std::string{}
                                                    : fmt::format("; the allocator's segments took up to {}",
                                                                  base::format_size(ops.mapped_peak));
    if (ghosts != 0) {
        least(counted(ghosts, "block was live", "blocks were live") +
              " before the log begins: how much was live earlier is not in it" + mapped);
    } else if (beginning != facts.end()) {
        least(beginning->second + ": how much was live earlier is not in it" + mapped);
    }
    if (ops.unknown_frees != 0) {
        least(counted(ops.unknown_frees, "free is of a block", "frees are of blocks") +
              " whose allocation is not in the trace");
    }
    for (std::string& gap : reporters::gaps_of(facts)) {
        least(std::move(gap));
    }
    if (const std::uint64_t bad = count_in(facts, trace::bad_lines_fact); bad != 0) {
        least(counted(bad, "line of the log", "lines of the log") + " could not be read");
    }
}

std::string text_of(const FitCommand& command, const reporters::PyTorchFitReport& report, const GlobalOptions& global)
{
    if (command.format == "json") {
        return reporters::to_json(report);
    }
    return command.format == "html" ? reporters::to_html(report)
                                    : reporters::to_terminal(report, terminal_style(global));
}

base::Expected<void> check_pytorch(const FitCommand& command, const trace::PlacementOps& ops, const trace::Facts& facts)
{
    const auto source = facts.find("source");
    if (source == facts.end() || source->second != "pytorch") {
        return refuse("--pytorch needs a snapshot of PyTorch's memory, imported from what "
                      "torch.cuda.memory._dump_snapshot wrote; this trace comes from " +
                          (source == facts.end() ? std::string{"elsewhere"} : source->second),
                      command.trace);
    }
    if (command.memory && !command.memory->device) {
        return refuse("--pytorch is about the memory of a device", "--device");
    }
    return check_memories(command, ops);
}

// What the allocator did by itself, and what the program asked of it beside blocks.
void add_pytorch_caveats(const trace::PyTorchOps& ops, reporters::PyTorchFitReport& report)
{
    if (ops.emptied != 0) {
        report.caveats.push_back(counted(ops.emptied, "call", "calls") +
                                 " of torch.cuda.empty_cache(): each is repeated here");
    }
    if (ops.own_releases != 0) {
        report.caveats.push_back(counted(ops.own_releases, "time", "times") +
                                 " the recorded program was short of memory and gave back what was cached: that is not "
                                 "repeated here, where it has all it wants or --capacity");
    }
}

base::Expected<ExitCode> execute_pytorch(const FitCommand& command, trace::TraceReader& reader, trace::PlacementOps ops,
                                         const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_pytorch(command, ops, reader.facts()));
    constexpr std::size_t curve_points = 400;
    std::uint32_t device = 0;
    if (command.memory) {
        device = *command.memory->device;
    } else if (!ops.memories.empty()) {
        device = ops.memories.begin()->device.value_or(0);
    }
    ops.ops = {};  // neither is needed any more, and they may be large
    ops.events = {};
    reader.rewind();
    const trace::PyTorchOps requests = trace::pytorch_ops(reader, device);
    MEMSWEEP_TRY(reader.outcome());
    ExitCode code = note_damage(command.trace, reader.damage());
    const auto sizes = reader.facts().find(trace::sizes_fact);
    reporters::PyTorchFitReport report{
        .trace_name = command.trace,
        .live_peak = ops.live_peak,
        .capacity = command.capacity_bytes,
        .capacity_text = command.capacity_text,
        .memory = name_of({device}),
        .sizes = sizes == reader.facts().end() ? std::string{} : sizes->second,
        .refusals = ops.refusals,
        .refused = ops.refused,
        .emptied = requests.emptied,
        .own_releases = requests.own_releases,
        .fit = trace::fit_pytorch(requests, command.capacity_bytes, command.settings, curve_points)};
    add_caveats(ops, reader.facts(), report);
    add_pytorch_caveats(requests, report);
    const auto& failure = report.fit.rows.front().outcome.failure;
    if (failure && !command.capacity_bytes) {
        return refuse(fmt::format("event {} takes what is reserved beyond 64 PiB, which no device has", failure->event),
                      command.trace);
    }
    if (failure) {
        code = ExitCode::finding;
    } else if (command.capacity_bytes && report.is_least) {
        code = worse(code, ExitCode::no_verdict);
    }
    return worse(code, write_text(text_of(command, report, global), command.out));
}

base::Expected<ExitCode> execute(const FitCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_out(command.out, {command.trace}));
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(command.trace));
    trace::PlacementOps ops = trace::placement_ops(reader, command.memory);
    MEMSWEEP_TRY(reader.outcome());
    if (ops.impossible_event != 0) {
        return refuse(fmt::format("event {} takes what is live beyond 64 PiB, which no capacity is fitted to",
                                  ops.impossible_event),
                      command.trace);
    }
    if (command.is_pytorch) {
        return execute_pytorch(command, reader, std::move(ops), global);
    }
    MEMSWEEP_TRY(check_memories(command, ops));
    ExitCode code = note_damage(command.trace, reader.damage());
    const std::uint64_t usual = ops.on_device ? device_alignment_bytes : host_alignment_bytes;
    const trace::FitOptions options{
        .capacity = command.capacity_bytes, .alignment = command.alignment_bytes.value_or(usual), .runs = command.runs};
    const trace::Facts& facts = reader.facts();
    const auto sizes = facts.find(trace::sizes_fact);
    reporters::FitReport report{.trace_name = command.trace,
                                .live_peak = ops.live_peak,
                                .granted_peak = ops.granted_peak,
                                .options = options,
                                .capacity_text = command.capacity_text,
                                .memory = command.memory ? name_of(*command.memory) : std::string{},
                                .sizes = sizes == facts.end() ? std::string{} : sizes->second,
                                .caveats = {},
                                .refusals = ops.refusals,
                                .refused = ops.refused,
                                .policies = {},
                                .pictures = {}};
    add_caveats(ops, facts, report);
    for (const trace::PlacementPolicy& policy : wanted_policies(command)) {
        report.policies.push_back(trace::fit(ops, policy, options));
        if (const std::uint64_t event = report.policies.back().impossible_event; event != 0) {
            return refuse(fmt::format("event {} fits into no capacity by {}: rounded up, the sizes exceed 64 bits",
                                      event, policy.name),
                          command.trace);
        }
        const bool fails = command.capacity_bytes && report.policies.back().first_failure;
        code = fails ? ExitCode::finding : code;
    }
    if (command.capacity_bytes && report.is_least) {
        code = worse(code, ExitCode::no_verdict);
    }
    return worse(code, write_text(text_of(command, report, ops, global), command.out));
}

}  // namespace

void add_fit(Command& root, const GlobalOptions& global)
{
    Command& command =
        root.command("fit", "The smallest capacity that a trace needs under each placement policy; needs no GPU");
    auto& fit = arguments_of<FitCommand>(command, global, execute);
    command.positional("trace FILE", value::text(fit.trace), "A trace (.mst); - is stdin");
    command.group = "Fitting";
    command.option("--capacity SIZE",
                   value::each([&fit](const std::string& given) { return read_capacity(fit, given); }),
                   "Also say what fails first at this capacity, as in 80GiB");
    command.option("--policy POLICY", value::words(fit.policies, value::names_in(trace::placement_policies())),
                   "Only this policy (repeatable)");
    command.option("--alignment SIZE", value::size(fit.alignment_bytes),
                   "Sizes are rounded up to it (default 16B, and 256B where there are devices)");
    command.option("--device N", value::each([&fit](const std::string& given) { return read_memory(fit, given); }),
                   "Only the blocks on this device, or on the host; needed where a trace has several");
    command.option("--runs N", value::number(fit.runs, 1, 1000), "The same run so often: what the last one needs");
    command.group = "PyTorch";
    command.option("--pytorch", value::flag(fit.is_pytorch),
                   "What PyTorch's allocator would reserve for the run, by its settings, and the settings to take");
    command.option("--setting CONF",
                   value::each(
                       [&fit](const std::string& given) {
                           return trace::parse_pytorch_settings(given).map(
                               [&fit](const trace::PyTorchSettings& settings) { fit.settings.push_back(settings); });
                       },
                       Arity::many),
                   "Try this too, as in PYTORCH_CUDA_ALLOC_CONF (repeatable)");
    command.group = "Output";
    command.format_option(fit.format, value::word(fit.format, {"text", "json", "html"}),
                          "text, json, or html with pictures of the address space");
    command.option("-o,--out FILE", value::text(fit.out), "Where to write (default stdout)");
    command.footer =
        "Exit codes: 0 done; 1 --capacity is too small for a policy, or for PyTorch's default settings, or parts of "
        "the trace were damaged and left "
        "out; 2 unreadable, or several devices and no --device; 5 --capacity, and the trace does not have all that "
        "was done: what was refused, or came before it.";
    command.check = [&fit]() -> base::Expected<void> {
        if (fit.alignment_bytes && !std::has_single_bit(*fit.alignment_bytes)) {
            return refuse("not a power of two", "--alignment");
        }
        if (fit.is_pytorch && !(fit.policies.empty() && !fit.alignment_bytes && fit.runs == 1)) {
            return refuse("PyTorch places blocks by its own rules: --policy, --alignment and --runs do not go with it",
                          "--pytorch");
        }
        if (!fit.is_pytorch && !fit.settings.empty()) {
            return refuse("only with --pytorch", "--setting");
        }
        return {};
    };
}

}  // namespace memsweep::app
