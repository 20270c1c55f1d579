#include "core/trace/compress.hpp"

#include "core/trace/event_decoder.hpp"

namespace memsweep::trace {
namespace {

// How much of the payload is events, how many, and when the last one was.
std::size_t seal(ChunkHeader& header, const std::vector<std::uint8_t>& payload)
{
    EventDecoder decoder{header, payload};
    Event event;
    std::size_t used = 0;
    header.events = 0;
    while (decoder.next(event)) {
        ++header.events;
        used = decoder.position();
    }
    header.last_ticks = decoder.ticks();
    header.flags = static_cast<std::uint8_t>(header.flags & ~chunk_unsealed);
    return used;
}

}  // namespace

base::Expected<Damage> compress(TraceFile& file, const TakeBytes& take, const Facts& facts)
{
    base::Expected<void> outcome = put_header(take, file.header());
    std::vector<std::uint8_t> payload;
    for (const ChunkPlace& chunk : file.event_chunks()) {
        if (!outcome) {
            break;
        }
        if (!file.read_payload(chunk, payload)) {
            continue;
        }
        ChunkHeader header = chunk.header;
        const bool unsealed = (header.flags & chunk_unsealed) != 0;
        const std::size_t bytes = unsealed ? seal(header, payload) : payload.size();
        outcome = put_chunk(take, header, {reinterpret_cast<const char*>(payload.data()), bytes});
    }
    Facts all = file.facts();
    for (const auto& [name, value] : facts) {
        all[name] = value;
    }
    return outcome.and_then([&] { return put_facts(take, all); }).map([&] { return file.damage(); });
}

}  // namespace memsweep::trace
