// Reads the chunks of a trace file: where they lie, and their payloads, checked and decompressed.
//
// Cost     opening reads the headers only: 64 bytes a chunk.
// Memory   one header a chunk; a payload when it is asked for, at most max_chunk_bytes.
// Errors   invalid_input: the file is no trace, is of a later version, or its chunks unpack to more than bounds.hpp
//          allows. io: the file cannot be read. A damaged or cut-off chunk is no error: it is left out and counted.
// Threads  one.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/format/trace_layout.hpp"

namespace memsweep::trace {

// Reads up to `into.size()` bytes from an offset; fewer at the end. The source is a file, or memory.
using ReadAt = std::function<base::Expected<std::size_t>(std::uint64_t offset, std::span<std::uint8_t> into)>;

// A file that another process writes as well.
struct ReadWriteAt {
    ReadAt read;
    std::function<base::Expected<void>(std::uint64_t offset, std::span<const std::uint8_t> bytes)> write;
};

// A regular file is read in place; a pipe ("-" is standard input) is first copied to a temporary file.
[[nodiscard]] base::Expected<ReadAt> open_for_reading(const std::string& path);
// Opens only regular files, and no links, because others may have put something into the folder.
[[nodiscard]] base::Expected<ReadAt> open_part_of_recording(const std::string& path);
[[nodiscard]] base::Expected<ReadWriteAt> open_for_updating(const std::string& path);
[[nodiscard]] ReadAt read_from_memory(std::span<const std::uint8_t> bytes);

// Reads `count` bytes, or as many as there are. It takes no more memory than that, whatever a header promises.
[[nodiscard]] base::Expected<std::size_t> read_as_it_comes(const ReadAt& read, std::uint64_t offset, std::size_t count,
                                                           std::vector<std::uint8_t>& into);

// Facts that a recorder or importer states about a whole trace. If a name below ends in a dot, the number of a process
// follows it, or for stated_fact the name of a total.
using Facts = std::map<std::string, std::string>;
inline constexpr const char* bad_lines_fact = "bad_lines";     // how many the imported log had
inline constexpr const char* program_fact = "program.";        // the programs that the process ran, with commas
inline constexpr const char* stated_fact = "stated.";          // the total that the log states, and what was imported
inline constexpr const char* ghosts_fact = "ghosts";           // blocks that were live before the log begins
inline constexpr const char* sizes_fact = "sizes";             // what the log's sizes are: "as requested"
inline constexpr const char* beginning_fact = "beginning";     // why the log does not begin with nothing live
inline constexpr const char* python_fact = "python";           // the versions of the interpreters that were met
inline constexpr const char* server_fact = "malloc_from.";     // the end of the path of the file whose malloc it used
inline constexpr const char* heap_pages_fact = "heap_pages.";  // bytes of the process that can only be blocks

// Parts of the file that could not be used.
struct Damage {
    std::uint64_t corrupted_chunks{};  // a checksum or the events within are wrong
    std::uint64_t missing_chunks{};    // gaps in the sequence of a stream
    std::uint64_t skipped_bytes{};     // between chunks that are whole
    bool truncated{};                  // the file ends within a chunk
};

struct ChunkPlace {
    ChunkHeader header;
    std::uint64_t offset{};  // where its header stands
};

class TraceFile {
  public:
    [[nodiscard]] static base::Expected<TraceFile> open(ReadAt read, const std::string& name);

    [[nodiscard]] const FileHeader& header() const noexcept { return header_; }
    [[nodiscard]] const std::vector<ChunkPlace>& event_chunks() const noexcept { return chunks_; }
    // Chunks that a recorder wrote. Only a recording has them.
    [[nodiscard]] const std::vector<ChunkPlace>& recorded_chunks() const noexcept { return recorded_chunks_; }
    // The chunks beside those of events: frames, stacks, modules, symbols, mappers, threads' stacks, usable sizes,
    // snapshots and the mark of the work's end.
    [[nodiscard]] const std::vector<ChunkPlace>& side_chunks() const noexcept { return side_chunks_; }
    [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
    // Where the first facts stand.
    [[nodiscard]] std::optional<std::uint64_t> facts_at() const noexcept { return facts_at_; }
    [[nodiscard]] const Damage& damage() const noexcept { return damage_; }

    // The bytes of all chunks, with their headers.
    [[nodiscard]] std::uint64_t stored_bytes() const noexcept { return stored_bytes_; }

    // Reads and decompresses the payload. Returns false if it is cut off, or if its checksum or length is wrong, and
    // counts it in damage().
    [[nodiscard]] bool read_payload(const ChunkPlace& chunk, std::vector<std::uint8_t>& into);
    // The chunk that begins there, with its payload. Empty: they are not whole, because the file may still be written.
    [[nodiscard]] static std::optional<ChunkPlace> whole_chunk_at(const ReadAt& read, std::uint64_t offset,
                                                                  std::vector<std::uint8_t>& payload);
    // Reads all side chunks, and counts the damaged ones in damage().
    void check_side_chunks();
    void count_corrupted() noexcept { ++damage_.corrupted_chunks; }

  private:
    TraceFile(ReadAt read, const FileHeader& header) : read_{std::move(read)}, header_{header} {}
    base::Expected<void> find_chunks();
    base::Expected<void> check_bounds(const std::string& name);
    base::Expected<bool> next_chunk(std::uint64_t& offset, bool& searching);
    base::Expected<bool> ends_within_side_chunk(std::uint64_t end);
    void take_facts(const ChunkPlace& chunk);
    void find_gaps();
    bool read_stored(const ChunkPlace& chunk, std::vector<std::uint8_t>& into);
    bool decompress(const ChunkPlace& chunk, std::vector<std::uint8_t>& into) const;

    ReadAt read_;
    FileHeader header_;
    std::vector<ChunkPlace> chunks_;
    std::vector<ChunkPlace> recorded_chunks_;
    std::vector<ChunkPlace> side_chunks_;
    Facts facts_;
    std::optional<std::uint64_t> facts_at_;
    std::uint64_t facts_bytes_{};
    std::uint64_t stored_bytes_{};
    Damage damage_;
    std::vector<std::uint8_t> stored_;
};

[[nodiscard]] std::uint32_t checksum(const FileHeader& header) noexcept;
[[nodiscard]] std::uint32_t checksum(const ChunkHeader& header) noexcept;

}  // namespace memsweep::trace
