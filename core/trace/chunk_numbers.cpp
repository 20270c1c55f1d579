#include "core/trace/chunk_numbers.hpp"

namespace memsweep::trace {

ChunkNumbers::ChunkNumbers(const ChunkPlace* place, TraceFile& file, const ChunkHeader& events)
{
    if (place == nullptr || !file.read_payload(*place, payload_)) {
        return;
    }
    decoder_ = StacksDecoder{payload_};
    image_ = {events.process, decoder_.image()};
    is_of_another_ = decoder_.sequence() != events.sequence;
    if (is_of_another_) {
        decoder_ = {};
    }
}

}  // namespace memsweep::trace
