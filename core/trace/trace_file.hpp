// Finds the chunks of a trace file; reads, checks and decompresses their payloads.
//
// Cost     opening reads the headers (64 bytes a chunk) and the chunks of facts.
// Memory   one header for each chunk, and the payload that is being read: at most max_chunk_bytes.
// Errors   invalid_input: the file is no trace, has another version, or its chunks unpack to more than bounds.hpp
//          allows. io: the file cannot be read. A damaged or cut-off chunk is no error: it is left out, and damage()
//          counts it.
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

// Reads bytes from a source (a file or memory), beginning at an offset. Returns how many bytes were read: into.size(),
// or fewer at the end of the source.
using ReadAt = std::function<base::Expected<std::size_t>(std::uint64_t offset, std::span<std::uint8_t> into)>;

// Reads and writes a file that another process also writes.
struct ReadWriteAt {
    ReadAt read;
    std::function<base::Expected<void>(std::uint64_t offset, std::span<const std::uint8_t> bytes)> write;
};

// Opens a file. A regular file is read in place. A pipe is first copied to a temporary file. "-" is standard input.
[[nodiscard]] base::Expected<ReadAt> open_for_reading(const std::string& path);
// The next two functions open only a regular file, and follow no link, because other users may have created entries in
// the folder.
[[nodiscard]] base::Expected<ReadAt> open_part_of_recording(const std::string& path);
[[nodiscard]] base::Expected<ReadWriteAt> open_for_updating(const std::string& path);
[[nodiscard]] ReadAt read_from_memory(std::span<const std::uint8_t> bytes);

// Reads `count` bytes, or fewer if the source ends earlier. The buffer grows only as bytes arrive, so that a wrong
// count in a header cannot make the buffer large.
[[nodiscard]] base::Expected<std::size_t> read_as_it_comes(const ReadAt& read, std::uint64_t offset, std::size_t count,
                                                           std::vector<std::uint8_t>& into);

// Facts that a recorder or importer states about a whole trace. A name below that ends in a dot is a prefix. After it
// comes the number of a process or, for stated_fact, the name of a total.
using Facts = std::map<std::string, std::string>;
inline constexpr const char* bad_lines_fact = "bad_lines";     // number of unreadable lines in the imported log
inline constexpr const char* program_fact = "program.";        // the programs that the process ran, separated by commas
inline constexpr const char* stated_fact = "stated.";          // a total as the log states it, and as it was imported
inline constexpr const char* ghosts_fact = "ghosts";           // number of blocks that were live before the log begins
inline constexpr const char* sizes_fact = "sizes";             // meaning of the log's sizes: "as requested"
inline constexpr const char* beginning_fact = "beginning";     // why blocks may have been live when the log began
inline constexpr const char* python_fact = "python";           // versions of the Python interpreters in the recording
inline constexpr const char* server_fact = "malloc_from.";     // whose malloc was used: the (end of the) library's path
inline constexpr const char* heap_pages_fact = "heap_pages.";  // the process held at least so many bytes in blocks

// The parts of the file that could not be used.
struct Damage {
    std::uint64_t corrupted_chunks{};  // with a wrong checksum, or with invalid events
    std::uint64_t missing_chunks{};    // gaps in the sequence numbers of a stream
    std::uint64_t skipped_bytes{};     // between whole chunks
    bool truncated{};                  // the file ends within a chunk
};

struct ChunkPlace {
    ChunkHeader header;
    std::uint64_t offset{};  // of the header in the file
};

class TraceFile {
  public:
    [[nodiscard]] static base::Expected<TraceFile> open(ReadAt read, const std::string& name);

    [[nodiscard]] const FileHeader& header() const noexcept { return header_; }
    [[nodiscard]] const std::vector<ChunkPlace>& event_chunks() const noexcept { return chunks_; }
    // Chunks in the form that a recorder writes. Only a recording has them.
    [[nodiscard]] const std::vector<ChunkPlace>& recorded_chunks() const noexcept { return recorded_chunks_; }
    // Chunks that describe events: frames, stacks, modules, symbols, mappers, threads' stacks, usable sizes,
    // snapshots and the mark of the work's end.
    [[nodiscard]] const std::vector<ChunkPlace>& side_chunks() const noexcept { return side_chunks_; }
    [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
    // Returns the offset of the first chunk of facts; nullopt: there are no facts.
    [[nodiscard]] std::optional<std::uint64_t> facts_at() const noexcept { return facts_at_; }
    [[nodiscard]] const Damage& damage() const noexcept { return damage_; }

    // Returns the size in the file of all chunks except facts, including their headers.
    [[nodiscard]] std::uint64_t stored_bytes() const noexcept { return stored_bytes_; }

    // Reads and decompresses the payload. Returns false if the payload is cut off or has a wrong checksum or length;
    // damage() then tells of it.
    [[nodiscard]] bool read_payload(const ChunkPlace& chunk, std::vector<std::uint8_t>& into);
    // Returns the chunk at this offset. nullopt: the chunk or its payload is not whole, perhaps because it is still
    // being written.
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
