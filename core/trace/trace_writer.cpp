#include "core/trace/trace_writer.hpp"

#include <algorithm>
#include <utility>

#include <zstd.h>

#include "core/trace/format/crc32c.hpp"
#include "core/trace/stack_writer.hpp"
#include "core/trace/trace_file.hpp"

namespace memsweep::trace {
namespace {

constexpr std::size_t max_text_bytes = 4096;
constexpr int compression_level = 1;  // 3 makes a sqlite trace 4 % smaller and takes twice as long

std::string_view bytes_of(const auto& structure)
{
    return {reinterpret_cast<const char*>(&structure), sizeof structure};
}

}  // namespace

base::Expected<void> put_header(const TakeBytes& take, FileHeader header)
{
    header.header_crc = checksum(header);
    return take(bytes_of(header));
}

void ChunkSealer::Free::operator()(ZSTD_CCtx_s* context) const noexcept
{
    ZSTD_freeCCtx(context);
}

SealedChunk ChunkSealer::sealed(ChunkHeader header, std::string_view payload)
{
    if (!context_) {
        context_.reset(ZSTD_createCCtx());
    }
    room_.resize(std::max(room_.size(), ZSTD_compressBound(payload.size())));
    const std::size_t bytes = context_ ? ZSTD_compressCCtx(context_.get(), room_.data(), room_.size(), payload.data(),
                                                           payload.size(), compression_level)
                                       : payload.size();
    const bool is_shorter = ZSTD_isError(bytes) == 0U && bytes < payload.size();
    std::string stored{is_shorter ? std::string_view{room_}.substr(0, bytes) : payload};
    header.codec = is_shorter ? Codec::zstd : Codec::raw;
    header.stored_bytes = static_cast<std::uint32_t>(stored.size());
    header.span_bytes = static_cast<std::uint32_t>(sizeof header + stored.size());
    header.raw_bytes = static_cast<std::uint32_t>(payload.size());
    header.payload_crc = crc32c(stored.data(), stored.size());
    header.header_crc = checksum(header);
    return {header, std::move(stored)};
}

base::Expected<void> put_chunk(const TakeBytes& take, const SealedChunk& chunk)
{
    return take(std::string{bytes_of(chunk.header)}.append(chunk.stored));
}

base::Expected<void> put_chunk(const TakeBytes& take, ChunkHeader header, std::string_view payload)
{
    return put_chunk(take, ChunkSealer{}.sealed(header, payload));
}

base::Expected<void> put_facts(const TakeBytes& take, const Facts& facts)
{
    std::string text;
    for (const auto& [name, value] : facts) {
        std::string line{name};
        line.append("=").append(value);
        std::ranges::replace(line, '\n', ' ');
        text.append(line).append("\n");
    }
    return put_chunk(take, {.kind = ChunkKind::facts}, text);
}

TraceWriter::TraceWriter(TakeBytes take, const FileHeader& header, std::size_t chunk_bytes)
    : take_{std::move(take)}, outcome_{put_header(take_, header)}, chunk_bytes_{chunk_bytes},
      payload_(chunk_bytes + max_text_bytes + 16 * max_event_bytes)
{
    begin_chunk(header.start_ticks);
}

TraceWriter::~TraceWriter() = default;

StackWriter& TraceWriter::stacks()
{
    if (!tree_) {
        tree_ = std::make_unique<StackWriter>(take_, StackImage{});
    }
    return *tree_;
}

// A chunk must be readable without those before it: it begins in a known state.
void TraceWriter::begin_chunk(std::uint64_t ticks)
{
    chunk_.first_ticks = ticks;
    chunk_.last_ticks = ticks;
    chunk_.events = 0;
    encoder_ = EventEncoder{chunk_.rotation, ticks};
    at_ = payload_.data();
    context_ = {.process = chunk_.process, .thread = chunk_.thread};
}

void TraceWriter::end_chunk()
{
    if (at_ == payload_.data()) {
        return;
    }
    chunk_.last_ticks = encoder_.last_ticks();
    const std::string_view payload{reinterpret_cast<const char*>(payload_.data()),
                                   static_cast<std::size_t>(at_ - payload_.data())};
    outcome_ = outcome_.and_then([&] { return put_chunk(take_, sealer_.sealed(chunk_, payload)); });
    put_stacks();
    ++chunk_.sequence;
    begin_chunk(encoder_.last_ticks());
}

// A chunk none of whose events has a stack has no chunk of stacks.
void TraceWriter::note_stack(const Event& event)
{
    if (!takes_stack(event.kind, event.address)) {
        return;
    }
    if (runs_bytes_ == 0 && event.stack == 0) {
        ++skipped_;
        return;
    }
    constexpr std::size_t most_at_once = StacksEncoder::max_head_bytes + 2 * StacksEncoder::max_run_bytes;
    runs_.resize(std::max(runs_.size(), runs_bytes_ * 2));
    runs_.resize(std::max(runs_.size(), runs_bytes_ + 2 * most_at_once));
    std::uint8_t* at = runs_.data() + runs_bytes_;
    if (runs_bytes_ == 0) {
        at = stacks_.head(at, 0, chunk_.sequence);
        at = skipped_ == 0 ? at : put_varint(put_varint(at, skipped_), 0);
    }
    at = stacks_.add(at, event.stack);
    runs_bytes_ = static_cast<std::size_t>(at - runs_.data());
}

void TraceWriter::put_stacks()
{
    skipped_ = 0;
    if (runs_bytes_ == 0) {
        return;
    }
    const std::uint8_t* const end = stacks_.finish(runs_.data() + runs_bytes_);
    ChunkHeader header = chunk_;
    header.kind = ChunkKind::stacks;
    header.events = 0;
    const std::string_view payload{reinterpret_cast<const char*>(runs_.data()),
                                   static_cast<std::size_t>(end - runs_.data())};
    outcome_ = outcome_.and_then([&] { return put_chunk(take_, sealer_.sealed(header, payload)); });
    runs_bytes_ = 0;
}

void TraceWriter::set_context(const Event& event)
{
    const auto follow = [this](OtherOperation operation, auto& current, auto wanted) {
        if (wanted != current) {
            at_ = encoder_.counted(at_, operation, current = wanted);
        }
    };
    follow(OtherOperation::process, context_.process, event.process);
    follow(OtherOperation::thread, context_.thread, event.thread);
    if (event.kind != EventKind::define_space) {
        follow(OtherOperation::space, context_.space, event.space);
    }
    follow(OtherOperation::stream, context_.stream, event.stream);
    if (event.ticks > encoder_.last_ticks()) {
        at_ = encoder_.stamp(at_, event.ticks);
    }
}

void TraceWriter::add(const Event& event)
{
    if (static_cast<std::size_t>(at_ - payload_.data()) >= chunk_bytes_) {
        end_chunk();
    }
    set_context(event);
    at_ = encoded(event);
    note_stack(event);
    ++chunk_.events;
}

std::uint8_t* TraceWriter::encoded(const Event& event)
{
    const std::string_view text = event.text.substr(0, max_text_bytes);
    switch (event.kind) {
    case EventKind::malloc:
        return encoder_.malloc(at_, event.address, event.size);
    case EventKind::calloc:
        return encoder_.sized(at_, OtherOperation::calloc, event.address, event.size);
    case EventKind::aligned_alloc:
        return encoder_.aligned_alloc(at_, event.address, event.size, event.alignment);
    case EventKind::realloc:
        return encoder_.realloc(at_, event.old_address, event.address, event.size);
    case EventKind::free:
        return encoder_.free(at_, event.address);
    case EventKind::free_requested:
        return encoder_.placed(at_, OtherOperation::free_requested, event.address);
    case EventKind::failed_alloc:
        return encoder_.counted(at_, OtherOperation::failed_alloc, event.size);
    case EventKind::map:
        return encoder_.sized(at_, OtherOperation::map, event.address, event.size);
    case EventKind::unmap:
        return encoder_.sized(at_, OtherOperation::unmap, event.address, event.size);
    case EventKind::external:
        return encoder_.sized(at_, OtherOperation::external, event.address, event.size);
    case EventKind::external_end:
        return encoder_.placed(at_, OtherOperation::external_end, event.address);
    case EventKind::copy:
    case EventKind::move:
        return encoder_.transfer(at_, event.kind == EventKind::copy ? OtherOperation::copy : OtherOperation::move,
                                 event.address, event.old_address, event.size, event.source_space);
    case EventKind::thread_start:
        return encoder_.counted(at_, OtherOperation::thread_start, event.other);
    case EventKind::thread_exit:
        return encoder_.bare(at_, OtherOperation::thread_exit);
    case EventKind::fork:
        return encoder_.counted(at_, OtherOperation::fork, event.other);
    case EventKind::exec:
        return encoder_.bare(at_, OtherOperation::exec);
    case EventKind::process_exit:
        return encoder_.bare(at_, OtherOperation::process_exit);
    case EventKind::label:
        return encoder_.label(at_, text);
    case EventKind::define_space:
        return encoder_.define_space(at_, event.space, static_cast<unsigned>(event.space_kind), event.other, text);
    }
    return at_;
}

base::Expected<void> TraceWriter::finish(const Facts& facts)
{
    end_chunk();
    if (tree_) {
        outcome_ = outcome_.and_then([&] { return tree_->finish(); });
    }
    outcome_ = outcome_.and_then([&] { return put_facts(take_, facts); });
    return outcome_;
}

}  // namespace memsweep::trace
