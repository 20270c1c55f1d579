#include "core/trace/stack_writer.hpp"

#include <utility>

namespace memsweep::trace {

void SymbolsWriter::put_number(std::uint64_t number)
{
    std::uint8_t bytes[max_varint_bytes];
    const std::uint8_t* const behind = put_varint(bytes, number);
    payload_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(behind - bytes));
}

void SymbolsWriter::put_text(std::string_view text)
{
    if (text.empty()) {
        put_number(no_text);
        return;
    }
    const auto known = texts_.find(text);
    if (known != texts_.end()) {
        put_number(known->second);
        return;
    }
    texts_.emplace(text, first_text + texts_.size());
    put_number(new_text);
    put_number(text.size());
    payload_ += text;
}

void SymbolsWriter::add(std::uint64_t address, std::string_view module, std::span<const SourceFrame> frames)
{
    if (payload_.empty()) {
        put_number(image_.image);
    }
    put_number(zigzag(address - std::exchange(last_address_, address)));
    put_text(module);
    put_number(frames.size());
    for (const SourceFrame& frame : frames) {
        put_text(frame.function);
        put_text(frame.file);
        put_number(frame.line);
    }
    if (payload_.size() >= TraceWriter::usual_chunk_bytes) {
        end_chunk();
    }
}

void SymbolsWriter::end_chunk()
{
    outcome_ = outcome_.and_then([&] {
        const ChunkHeader header{.kind = ChunkKind::symbols, .process = image_.process, .sequence = sequence_++};
        return sealer_ == nullptr ? put_chunk(take_, header, payload_)
                                  : put_chunk(take_, sealer_->sealed(header, payload_));
    });
    payload_.clear();
    texts_.clear();
    last_address_ = 0;
}

base::Expected<void> SymbolsWriter::finish()
{
    if (!payload_.empty()) {
        end_chunk();
    }
    return outcome_;
}

std::uint32_t StackWriter::node(std::uint32_t parent, std::uint64_t address)
{
    const FrameNode node{parent, address};
    const auto [place, is_new] = numbers_.try_emplace(node, static_cast<std::uint32_t>(nodes_.size() + 1));
    if (is_new) {
        nodes_.push_back(node);
    }
    return place->second;
}

void StackWriter::name(std::uint64_t address, std::string_view module, std::span<const SourceFrame> frames)
{
    symbols_.add(address, module, frames);
}

base::Expected<void> StackWriter::finish()
{
    MEMSWEEP_TRY(symbols_.finish());
    constexpr std::size_t room = TraceWriter::usual_chunk_bytes;
    std::vector<std::uint8_t> payload(room + FramesEncoder::max_node_bytes);
    std::uint64_t sequence = 0;
    for (std::size_t i = 0; i < nodes_.size();) {
        FramesEncoder encoder;
        std::uint8_t* at = encoder.head(payload.data(), image_.image, static_cast<std::uint32_t>(i + 1));
        for (; i < nodes_.size() && static_cast<std::size_t>(at - payload.data()) < room; ++i) {
            at = encoder.node(at, nodes_[i]);
        }
        MEMSWEEP_TRY(
            put_chunk(take_, {.kind = ChunkKind::frames, .process = image_.process, .sequence = sequence++},
                      {reinterpret_cast<const char*>(payload.data()), static_cast<std::size_t>(at - payload.data())}));
    }
    return {};
}

}  // namespace memsweep::trace
