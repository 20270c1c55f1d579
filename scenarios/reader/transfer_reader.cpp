// What a transfer step reads and must satisfy.
#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "core/model/transfer.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/step_reader.hpp"

namespace memsweep::scenarios {
namespace {

constexpr std::uint64_t most_turns_and_pieces = 100'000'000;
constexpr std::uint64_t least_chunk_bytes = 4096;

template <typename Value>
void read_word(const Fields& fields, std::string_view key, base::Expected<Value> (*parse)(std::string_view),
               Value& into, bool& complete)
{
    std::string text;
    if (!fields.read(key, text)) {
        complete = false;
        return;
    }
    auto value = parse(text);
    if (!value) {
        fields.complain(fields.place(key), fmt::format("in {}: {}", in_quotes(text), value.error().message));
        complete = false;
        return;
    }
    into = *std::move(value);
}

// MPI counts in int; data are compared by words.
std::string rank_problem(const model::TransferJob& job, std::uint32_t ranks)
{
    constexpr std::uint64_t largest = 1U << 30U;
    std::string why = model::rank_objection(job.spec, ranks);
    if (why.empty() && (job.bytes % sizeof(std::uint64_t) != 0 || job.bytes > largest)) {
        why = "\"bytes\" between ranks is a multiple of 8 up to 1GiB";
    }
    return why;
}

bool is_to_device(const model::TransferSpec& spec)
{
    return spec.src.kind == model::TransferEnd::Kind::host && spec.dst.kind == model::TransferEnd::Kind::device;
}

// Whatever the machine is like: an automatic route may be staged, by copy engines.
bool moves_by_kernel(const model::TransferSpec& spec, const model::TransferOptions& options)
{
    return spec.exe.kind == model::Mover::Kind::device_kernel && spec.src.kind != model::TransferEnd::Kind::null &&
           options.chain == 0 && options.strategy != model::Strategy::automatic &&
           options.strategy != model::Strategy::staged;
}

}  // namespace

void StepReader::read_transfers(const Fields& fields, model::TransferStep& step)
{
    const SourceNode* node = fields.raw("transfers");
    const List* list = node == nullptr ? nullptr : node->as<List>();
    if (list == nullptr || list->empty() || list->size() > model::max_transfers_at_once) {
        if (node != nullptr) {
            fields.complain(node->place, fmt::format("\"transfers\" must be a list of 1 to {} objects",
                                                     model::max_transfers_at_once));
        }
        return;
    }
    for (const SourceNode& item : *list) {
        Fields one{item, "a transfer", reading_};
        one.check(transfer_table().options());
        model::TransferJob job;
        bool complete = true;
        read_word(one, "src", model::parse_end, job.spec.src, complete);
        read_word(one, "exe", model::parse_mover, job.spec.exe, complete);
        read_word(one, "dst", model::parse_end, job.spec.dst, complete);
        one.read(transfer_table(), job);
        if (!complete) {
            continue;
        }
        if (std::string why = model::objection(job.spec); !why.empty()) {
            one.complain(one.place("src"), std::move(why));
        } else if (ranks_ != 0) {
            if (why = rank_problem(job, ranks_); !why.empty()) {
                one.complain(one.place("src"), std::move(why));
            }
        } else if (model::names_rank(job.spec)) {
            one.complain(
                one.place(job.spec.src.rank ? "src" : "dst"),
                "names a rank, and the scenario does not say for how many it is: \"ranks\": 2, beside \"name\"");
        }
        if (!model::names_each_device(job.spec)) {
            step.jobs.push_back(job);
            continue;
        }
        job.optional = true;
        for (const model::TransferSpec& spec : model::for_each_device(job.spec, model::max_each_devices)) {
            step.jobs.push_back(job);
            step.jobs.back().spec = spec;
        }
    }
    if (step.jobs.size() > model::max_transfers_at_once) {
        fields.complain(node->place,
                        fmt::format("{} transfers at once, with up to {} devices for gpu*; at most {}",
                                    step.jobs.size(), model::max_each_devices, model::max_transfers_at_once));
    }
}

// One message after the other is all that is asked of MPI.
void StepReader::check_between_ranks(const Fields& fields, const model::TransferStep& step)
{
    static constexpr std::array<std::string_view, 3> known{"op", "transfers", "times"};
    for (const OptionInfo& option : operation_options("transfer")) {
        if (fields.has(option.name) && std::ranges::find(known, option.name) == known.end()) {
            fields.complain(fields.place(option.name),
                            fmt::format("\"{}\" is not for transfers between ranks", option.name));
        }
    }
    for (std::size_t i = 0; i < step.jobs.size(); ++i) {
        if (std::ranges::find(step.jobs.begin(), step.jobs.begin() + static_cast<std::ptrdiff_t>(i), step.jobs[i].spec,
                              &model::TransferJob::spec) != step.jobs.begin() + static_cast<std::ptrdiff_t>(i)) {
            fields.complain(fields.place("transfers"),
                            fmt::format("{} stands there twice", model::to_text(step.jobs[i].spec)));
        }
    }
}

void StepReader::check(const Fields& fields, model::TransferStep& step)
{
    read_transfers(fields, step);
    if (ranks_ != 0) {
        check_between_ranks(fields, step);
    }
    const model::TransferOptions& options = step.options;
    if (options.times > most_turns_and_pieces / options.pieces) {
        fields.complain(fields.place("pieces"),
                        fmt::format("more than {} pieces in all turns together", most_turns_and_pieces));
    }
    if (options.chunk_bytes != 0 && options.chunk_bytes < least_chunk_bytes) {
        fields.complain(fields.place("chunk"), "a chunk has 4KiB at least; 0: by the size of the transfer");
    }
    if (options.batch && options.strategy == model::Strategy::registered) {
        fields.complain(fields.place("batch"), "pieces are gathered in pinned memory, which needs no registering");
    }
    for (const model::TransferJob& job : step.jobs) {
        if (options.batch && !is_to_device(job.spec)) {
            fields.complain(fields.place("batch"), fmt::format("pieces are gathered from host memory for a device, not "
                                                               "of {}",
                                                               model::to_text(job.spec)));
        }
        if (options.chain != 0 && (!is_to_device(job.spec) || step.jobs.size() != 1 || job.bytes % 8 != 0)) {
            fields.complain(fields.place("chain"),
                            "a chain of kernels needs one transfer from host memory to a device, of whole words of 8 "
                            "bytes");
        }
        if (moves_by_kernel(job.spec, options) && (options.offset_bytes % 16 != 0 || job.bytes % 16 != 0)) {
            fields.complain(
                fields.place(options.offset_bytes % 16 != 0 ? "offset" : "transfers"),
                fmt::format("a kernel moves whole units of 16 bytes between addresses that are multiples of "
                            "16, and {} begins at {} and has {} bytes",
                            model::to_text(job.spec), options.offset_bytes, job.bytes));
        }
        if (options.chain != 0 && job.spec.src.host == model::HostKind::mapped) {
            fields.complain(fields.place("chain"),
                            "the processor fills the buffer and compares it, and reaches mapped memory only while it "
                            "is mapped: take pinned");
        }
    }
}

}  // namespace memsweep::scenarios
