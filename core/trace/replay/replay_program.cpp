#include "core/trace/replay/replay_program.hpp"

#include "core/trace/replay/replay_layout.hpp"

namespace memsweep::trace {
namespace {

bool fits(std::uint64_t first, std::uint64_t count, std::uint64_t each, std::uint64_t words)
{
    return first <= words && count <= (words - first) / each;
}

}  // namespace

base::Expected<ReplayProgram> view(std::span<const std::uint64_t> words)
{
    const auto foreign = [] {
        return base::fail(base::ErrorCode::invalid_input, "the replay was not compiled by this build of memsweep");
    };
    const auto* header = reinterpret_cast<const ReplayHeader*>(words.data());
    if (words.size() < words_of<ReplayHeader> || header->magic != replay_magic || header->words > words.size() ||
        !fits(header->first_thread, header->threads, words_of<ReplayThread>, header->words)) {
        return foreign();
    }
    ReplayProgram program{
        .header = header,
        .threads = {reinterpret_cast<const ReplayThread*>(words.data() + header->first_thread), header->threads},
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
