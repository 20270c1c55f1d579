#include "core/trace/replay/replay_program.hpp"

#include <cstring>
#include <type_traits>

#include "core/trace/replay/replay_compiler.hpp"

namespace memsweep::trace {
namespace {

template <typename T>
constexpr std::size_t words_of = sizeof(T) / sizeof(std::uint64_t);

static_assert(sizeof(ExtendedOp) % 8 == 0 && sizeof(ReplayThread) % 8 == 0 && sizeof(ReplayHeader) % 8 == 0);
static_assert(std::is_trivially_copyable_v<ExtendedOp> && std::is_trivially_copyable_v<ReplayThread>);

// Changes with every change of the records, so that a worker of another build refuses them.
constexpr std::uint64_t replay_magic =
    0x6D73776570726C32ULL ^ (sizeof(ReplayHeader) << 32U) ^ (sizeof(ReplayThread) << 16U) ^ sizeof(ExtendedOp);

bool fits(std::uint64_t first, std::uint64_t count, std::uint64_t each, std::uint64_t words)
{
    return first <= words && count <= (words - first) / each;
}

}  // namespace

std::vector<std::uint64_t> lay_out(const std::vector<ReplaySequence>& sequences,
                                   const std::vector<std::uint64_t>& steps, std::uint64_t cells,
                                   const ReplayTotals& totals)
{
    ReplayHeader header{.magic = replay_magic,
                        .threads = sequences.size(),
                        .cells = cells,
                        .first_thread = words_of<ReplayHeader>,
                        .steps = steps.size(),
                        .totals = totals};
    std::vector<ReplayThread> threads;
    header.first_step = header.first_thread + sequences.size() * words_of<ReplayThread>;
    std::uint64_t at = header.first_step + steps.size();
    for (const ReplaySequence& sequence : sequences) {
        ReplayThread thread{.first_op = at,
                            .ops = sequence.ops.size(),
                            .first_extended = at + sequence.ops.size(),
                            .extended = sequence.extended.size(),
                            .body = sequence.body,
                            .events = sequence.events,
                            .slots = sequence.slots.count(),
                            .ends = sequence.ends ? 1U : 0U};
        at = thread.first_extended + thread.extended * words_of<ExtendedOp>;
        threads.push_back(thread);
    }
    header.words = at;
    std::vector<std::uint64_t> words(at);
    const auto put = [&](std::uint64_t first, const auto& records) {
        if (!records.empty()) {
            std::memcpy(words.data() + first, records.data(), records.size() * sizeof(records.front()));
        }
    };
    std::memcpy(words.data(), &header, sizeof header);
    put(header.first_thread, threads);
    put(header.first_step, steps);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        put(threads[i].first_op, sequences[i].ops);
        put(threads[i].first_extended, sequences[i].extended);
    }
    return words;
}

base::Expected<ReplayProgram> view(std::span<const std::uint64_t> words)
{
    const auto foreign = [] {
        return base::fail(base::ErrorCode::invalid_input, "the replay was not compiled by this build of memsweep");
    };
    const auto* header = reinterpret_cast<const ReplayHeader*>(words.data());
    if (words.size() < words_of<ReplayHeader> || header->magic != replay_magic || header->words > words.size() ||
        !fits(header->first_thread, header->threads, words_of<ReplayThread>, header->words) ||
        !fits(header->first_step, header->steps, 1, header->words)) {
        return foreign();
    }
    ReplayProgram program{
        .header = header,
        .threads = {reinterpret_cast<const ReplayThread*>(words.data() + header->first_thread), header->threads},
        .steps = words.subspan(header->first_step, header->steps),
        .words = words.first(header->words)};
    for (const ReplayThread& thread : program.threads) {
        if (!fits(thread.first_op, thread.ops, 1, header->words) ||
            !fits(thread.first_extended, thread.extended, words_of<ExtendedOp>, header->words) ||
            thread.body > thread.ops) {
            return foreign();
        }
    }
    return program;
}

}  // namespace memsweep::trace
