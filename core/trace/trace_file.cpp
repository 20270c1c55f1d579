#include "core/trace/trace_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/spool.hpp"
#include "core/trace/bounds.hpp"
#include "core/trace/format/crc32c.hpp"
#include "core/trace/format/recording_layout.hpp"

namespace memsweep::trace {
namespace {

constexpr std::size_t search_bytes = 64 << 10;
constexpr std::size_t max_facts_bytes = 1 << 20;
constexpr std::size_t first_piece_bytes = 256 << 10;

bool stands_beside_events(ChunkKind kind)
{
    return kind >= ChunkKind::frames && kind <= ChunkKind::end_mark;
}

bool is_possible(const ChunkHeader& header)
{
    if (header.magic != chunk_magic || header.header_crc != checksum(header)) {
        return false;
    }
    const bool unsealed = (header.flags & chunk_unsealed) != 0;
    return header.span_bytes >= sizeof(ChunkHeader) && header.rotation < 64 &&
           (unsealed ? header.codec == Codec::raw && header.span_bytes <= max_chunk_bytes
                     : header.stored_bytes <= header.span_bytes - sizeof(ChunkHeader) &&
                           header.stored_bytes <= ZSTD_COMPRESSBOUND(max_chunk_bytes)) &&
           header.raw_bytes <= max_chunk_bytes && (header.codec == Codec::raw || header.codec == Codec::zstd);
}

// A recorder's chunks are as large as its slots.
bool is_possible_recording(const ChunkHeader& header)
{
    const bool unsealed = (header.flags & chunk_unsealed) != 0;
    return unsealed ? header.span_bytes <= slot_bytes
                    : header.raw_bytes <= slot_bytes && header.stored_bytes <= slot_bytes;
}

// What is no trace may have no end; opening it fails by its first bytes.
base::Expected<sys::UniqueFd> copy_of_pipe(int pipe, const std::string& name)
{
    std::string head;
    const auto is_trace = [&head](std::string_view piece) {
        head.append(piece.substr(0, sizeof file_magic - std::min(sizeof file_magic, head.size())));
        return head.size() < sizeof file_magic || std::memcmp(head.data(), file_magic.data(), sizeof file_magic) == 0;
    };
    return sys::spooled(pipe, name, {.bytes = most_piped_bytes}, is_trace).map_error([](base::Error error) {
        error.message += error.code == base::ErrorCode::invalid_input ? "; save it to a file first" : "";
        return error;
    });
}

base::Expected<sys::UniqueFd> seekable(const std::string& path)
{
    sys::UniqueFd file = MEMSWEEP_TRY(sys::open_input(path));
    struct stat facts {};
    if (::fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode)) {
        return file;
    }
    return copy_of_pipe(file.get(), path);
}

// Whoever waits for the other end of a pipe, or follows a link, is led by whoever made it.
base::Expected<sys::UniqueFd> regular(const std::string& path, int flags)
{
    sys::UniqueFd file{::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK)};
    struct stat facts {};
    if (!file.valid() || ::fstat(file.get(), &facts) != 0) {
        return base::fail(sys::io_error("cannot open", errno, path));
    }
    if (!S_ISREG(facts.st_mode)) {
        return base::fail(base::ErrorCode::invalid_input, "is no regular file", path);
    }
    return file;
}

ReadAt reading(std::shared_ptr<sys::UniqueFd> file, std::string path)
{
    return [file = std::move(file),
            path = std::move(path)](std::uint64_t offset, std::span<std::uint8_t> into) -> base::Expected<std::size_t> {
        std::size_t done = 0;
        while (done < into.size()) {
            const ssize_t got = sys::retry_interrupted([&] {
                return ::pread(file->get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
            });
            if (got < 0) {
                return base::fail(sys::io_error("cannot read", errno, path));
            }
            if (got == 0) {
                break;
            }
            done += static_cast<std::size_t>(got);
        }
        return done;
    };
}

}  // namespace

base::Expected<ReadAt> open_for_reading(const std::string& path)
{
    return reading(std::make_shared<sys::UniqueFd>(MEMSWEEP_TRY(seekable(path))), path);
}

base::Expected<ReadAt> open_part_of_recording(const std::string& path)
{
    return reading(std::make_shared<sys::UniqueFd>(MEMSWEEP_TRY(regular(path, O_RDONLY))), path);
}

base::Expected<ReadWriteAt> open_for_updating(const std::string& path)
{
    const auto file = std::make_shared<sys::UniqueFd>(MEMSWEEP_TRY(regular(path, O_RDWR)));
    const auto write = [file, path](std::uint64_t offset, std::span<const std::uint8_t> bytes) -> base::Expected<void> {
        const ssize_t put = sys::retry_interrupted(
            [&] { return ::pwrite(file->get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
        if (put != static_cast<ssize_t>(bytes.size())) {
            return base::fail(sys::io_error("cannot write", put < 0 ? errno : ENOSPC, path));
        }
        return {};
    };
    return ReadWriteAt{reading(file, path), write};
}

ReadAt read_from_memory(std::span<const std::uint8_t> bytes)
{
    return [bytes](std::uint64_t offset, std::span<std::uint8_t> into) -> base::Expected<std::size_t> {
        if (offset >= bytes.size()) {
            return 0;
        }
        const std::size_t count = std::min<std::size_t>(into.size(), bytes.size() - static_cast<std::size_t>(offset));
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
        return count;
    };
}

std::uint32_t checksum(const FileHeader& header) noexcept
{
    return crc32c(&header, offsetof(FileHeader, header_crc));
}

std::uint32_t checksum(const ChunkHeader& header) noexcept
{
    return crc32c(&header, offsetof(ChunkHeader, header_crc));
}

base::Expected<std::size_t> read_as_it_comes(const ReadAt& read, std::uint64_t offset, std::size_t count,
                                             std::vector<std::uint8_t>& into)
{
    std::size_t done = 0;
    for (std::size_t room = std::min(count, first_piece_bytes);; room = std::min(count, room * 2)) {
        into.resize(room);
        done += MEMSWEEP_TRY(read(offset + done, std::span{into}.subspan(done)));
        if (done < room || room == count) {
            into.resize(done);
            return done;
        }
    }
}

base::Expected<TraceFile> TraceFile::open(ReadAt read, const std::string& name)
{
    FileHeader header;
    const std::size_t got = MEMSWEEP_TRY(read(0, {reinterpret_cast<std::uint8_t*>(&header), sizeof header}));
    if (got < sizeof header.magic || header.magic != file_magic) {
        return base::fail(base::ErrorCode::invalid_input, "not a memsweep trace; `memsweep import` turns logs into one",
                          name);
    }
    if (got < sizeof header || header.header_crc != checksum(header)) {
        return base::fail(base::ErrorCode::invalid_input, "the header of this trace is damaged", name);
    }
    if (header.version != format_version) {
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format("a trace of version {}; this memsweep reads version {}", header.version, format_version), name);
    }
    TraceFile file{std::move(read), header};
    MEMSWEEP_TRY(file.find_chunks());
    MEMSWEEP_TRY(file.check_bounds(name));
    return file;
}

base::Expected<void> TraceFile::check_bounds(const std::string& name)
{
    std::uint64_t unpacked = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> largest;  // chunk of each stream
    for (const auto* chunks : {&chunks_, &recorded_chunks_, &side_chunks_}) {
        for (const ChunkPlace& chunk : *chunks) {
            stored_bytes_ += sizeof(ChunkHeader) + chunk.header.stored_bytes;
            unpacked += chunk.header.raw_bytes;
        }
    }
    for (const ChunkPlace& chunk : chunks_) {
        std::uint32_t& bytes = largest[{chunk.header.process, chunk.header.thread}];
        bytes = std::max(bytes, chunk.header.raw_bytes);
    }
    std::uint64_t open = 0;
    for (const auto& [stream, bytes] : largest) {
        open += bytes;
    }
    if (unpacked > most_unpacked(stored_bytes_) || open > most_open_bytes(stored_bytes_)) {
        const bool is_all = unpacked > most_unpacked(stored_bytes_);
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("{} of chunks unpack to {}{}: no trace that memsweep writes does",
                                      base::format_size(stored_bytes_), base::format_size(is_all ? unpacked : open),
                                      is_all ? "" : " at a time"),
                          name);
    }
    return {};
}

// Where a header is damaged, the next whole one is searched for: one torn chunk must not cost those behind it.
base::Expected<void> TraceFile::find_chunks()
{
    std::uint64_t offset = header_.header_bytes;
    bool searching = false;
    for (bool more = true; more;) {
        more = MEMSWEEP_TRY(next_chunk(offset, searching));
    }
    find_gaps();
    return {};
}

base::Expected<bool> TraceFile::next_chunk(std::uint64_t& offset, bool& searching)
{
    std::vector<std::uint8_t> window(searching ? search_bytes : sizeof(ChunkHeader));
    const std::size_t got = MEMSWEEP_TRY(read_(offset, window));
    if (got < sizeof(ChunkHeader)) {
        damage_.truncated =
            damage_.truncated || (got != 0 && !searching) || MEMSWEEP_TRY(ends_within_side_chunk(offset));
        damage_.skipped_bytes += got;
        return false;
    }
    const std::string_view bytes{reinterpret_cast<const char*>(window.data()), got};
    const std::string_view magic{reinterpret_cast<const char*>(&chunk_magic), sizeof chunk_magic};
    for (std::size_t at = bytes.find(magic); at <= got - sizeof(ChunkHeader); at = bytes.find(magic, at + 1)) {
        ChunkPlace chunk{.offset = offset + at};
        std::memcpy(&chunk.header, window.data() + at, sizeof chunk.header);
        if (!is_possible(chunk.header)) {
            continue;
        }
        damage_.skipped_bytes += at;
        offset = chunk.offset + chunk.header.span_bytes;
        searching = false;
        if (chunk.header.kind == ChunkKind::events) {
            chunks_.push_back(chunk);
        } else if (chunk.header.kind == ChunkKind::words) {
            if (is_possible_recording(chunk.header)) {
                recorded_chunks_.push_back(chunk);
            } else {
                ++damage_.corrupted_chunks;
            }
        } else if (stands_beside_events(chunk.header.kind)) {
            side_chunks_.push_back(chunk);
        } else if (chunk.header.kind == ChunkKind::facts) {
            facts_at_ = facts_at_.value_or(chunk.offset);
            take_facts(chunk);
        }
        return true;
    }
    if (!searching) {
        ++damage_.corrupted_chunks;
        searching = true;
        return true;
    }
    const std::size_t passed = got - sizeof(ChunkHeader) + 1;
    damage_.skipped_bytes += passed;
    offset += passed;
    if (damage_.skipped_bytes > most_searched_bytes) {
        damage_.truncated = true;
        return false;
    }
    return true;
}

// Who does not ask for what they say does not read them, and would not see that the last chunk of them is cut off.
base::Expected<bool> TraceFile::ends_within_side_chunk(std::uint64_t end)
{
    const bool is_last =
        !side_chunks_.empty() && side_chunks_.back().offset + side_chunks_.back().header.span_bytes == end;
    std::uint8_t last{};
    return is_last && MEMSWEEP_TRY(read_(end - 1, {&last, 1})) == 0;
}

void TraceFile::find_gaps()
{
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> expected;
    for (const ChunkPlace& chunk : chunks_) {
        auto& next = expected[{chunk.header.process, chunk.header.thread}];
        // A sequence that begins again belongs to another program under the same number.
        damage_.missing_chunks += chunk.header.sequence > next ? chunk.header.sequence - next : 0;
        next = chunk.header.sequence + 1;
    }
}

void TraceFile::take_facts(const ChunkPlace& chunk)
{
    std::vector<std::uint8_t> payload;
    facts_bytes_ += chunk.header.raw_bytes;
    if (chunk.header.raw_bytes > max_facts_bytes || facts_bytes_ > most_facts_bytes || !read_payload(chunk, payload)) {
        return;
    }
    std::string_view rest{reinterpret_cast<const char*>(payload.data()), payload.size()};
    while (!rest.empty()) {
        std::string_view line = base::take_until(rest, '\n');
        if (line.find('=') != std::string_view::npos) {
            const std::string name{base::take_until(line, '=')};
            facts_[name] = line;
        }
    }
}

// All of the stored payload, or of an unsealed chunk what the file still has of it.
bool TraceFile::read_stored(const ChunkPlace& chunk, std::vector<std::uint8_t>& into)
{
    const bool unsealed = (chunk.header.flags & chunk_unsealed) != 0;
    const std::size_t count = unsealed ? chunk.header.span_bytes - sizeof(ChunkHeader) : chunk.header.stored_bytes;
    const auto got = read_as_it_comes(read_, chunk.offset + sizeof(ChunkHeader), count, into);
    if (!got || *got == count) {
        return got.has_value();
    }
    damage_.truncated = true;
    return unsealed;
}

bool TraceFile::decompress(const ChunkPlace& chunk, std::vector<std::uint8_t>& into) const
{
    into.resize(chunk.header.raw_bytes);
    const std::size_t got = ZSTD_decompress(into.data(), into.size(), stored_.data(), stored_.size());
    if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation) {
        throw std::bad_alloc{};  // the chunk is whole: reading on would leave it out
    }
    return ZSTD_isError(got) == 0U && got == into.size();
}

bool TraceFile::read_payload(const ChunkPlace& chunk, std::vector<std::uint8_t>& into)
{
    const bool compressed = chunk.header.codec == Codec::zstd;
    std::vector<std::uint8_t>& stored = compressed ? stored_ : into;
    if (!read_stored(chunk, stored)) {
        return false;
    }
    if ((chunk.header.flags & chunk_unsealed) != 0) {
        return true;
    }
    const bool whole = crc32c(stored.data(), stored.size()) == chunk.header.payload_crc;
    if (whole && (compressed ? decompress(chunk, into) : into.size() == chunk.header.raw_bytes)) {
        return true;
    }
    count_corrupted();
    return false;
}

void TraceFile::check_side_chunks()
{
    for (const ChunkPlace& chunk : side_chunks_) {
        if (read_stored(chunk, stored_) && crc32c(stored_.data(), stored_.size()) != chunk.header.payload_crc) {
            count_corrupted();
        }
    }
}

std::optional<ChunkPlace> TraceFile::whole_chunk_at(const ReadAt& read, std::uint64_t offset,
                                                    std::vector<std::uint8_t>& payload)
{
    ChunkPlace chunk{.offset = offset};
    const auto got = read(offset, {reinterpret_cast<std::uint8_t*>(&chunk.header), sizeof chunk.header});
    if (!got || *got != sizeof chunk.header || !is_possible(chunk.header)) {
        return std::nullopt;
    }
    const bool is_whole = TraceFile{read, {}}.read_payload(chunk, payload);
    return is_whole ? std::optional{chunk} : std::nullopt;
}

}  // namespace memsweep::trace
