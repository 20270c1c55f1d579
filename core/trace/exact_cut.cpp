#include "core/trace/exact_cut.hpp"

#include <algorithm>

#include "core/trace/recorded_chunk.hpp"
#include "core/trace/recorded_pieces.hpp"

namespace memsweep::trace {

base::Expected<void> add_to_cut(const RecordedImage& image, ExactCut& cut)
{
    const ReadAt read = MEMSWEEP_TRY(image.open());
    ImageFacts facts = image.facts;
    MEMSWEEP_TRY(find_structure(read, facts_offset, facts));
    ChunkTranslator translator;
    std::vector<std::uint8_t> payload;
    for (const RecordedPiece& piece : MEMSWEEP_TRY(pieces_in_slots(read, facts))) {
        if (piece.state != SlotState::writing || !MEMSWEEP_TRY(read_slot(read, piece, payload))) {
            continue;
        }
        const ChunkHeader chunk = translator.translated(piece.place.header, payload, facts).chunk.header;
        cut.threads.push_back(
            {chunk.process, chunk.thread, chunk.sequence, chunk.first_ticks, std::uint64_t{chunk.events}});
    }
    cut.processes.insert(number_in_trace(facts));
    cut.ticks = std::max(cut.ticks, read_clocks().ticks);
    return {};
}

}  // namespace memsweep::trace
