#include "core/trace/recorded_stacks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/trace/format/stack_recording.hpp"
#include "core/trace/recorded_pieces.hpp"
#include "core/trace/stack_writer.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint32_t nodes_a_chunk = 64U << 10U;

// As many whole ones as there are, up to `count`.
template <typename Item>
base::Expected<std::vector<Item>> read_items(const ReadAt& read, std::uint64_t offset, std::uint32_t count)
{
    std::vector<Item> items(count);
    const std::size_t bytes = items.size() * sizeof(Item);
    std::size_t done = 0;
    while (done < bytes) {
        const std::span<std::uint8_t> rest{reinterpret_cast<std::uint8_t*>(items.data()) + done, bytes - done};
        const std::size_t got = MEMSWEEP_TRY(read(offset + done, rest));
        if (got == 0) {
            break;
        }
        done += got;
    }
    items.resize(done / sizeof(Item));
    return items;
}

class StackChunks {
  public:
    StackChunks(StackImage image, const TakeBytes& take, ChunkSealer& sealer)
        : image_{image}, take_{take}, sealer_{sealer}
    {
    }

    base::Expected<void> put_frames(std::uint32_t first, std::span<const StackNode> nodes)
    {
        payload_.resize(FramesEncoder::max_head_bytes + nodes.size() * FramesEncoder::max_node_bytes);
        FramesEncoder encoder;
        std::uint8_t* at = encoder.head(payload_.data(), image_.image, first);
        for (const StackNode& node : nodes) {
            at = encoder.node(at, {node.parent, node.address});
        }
        return put(ChunkKind::frames, at);
    }

    base::Expected<void> put_modules(std::span<const RecordedModule> modules)
    {
        payload_.resize(max_varint_bytes + modules.size() * (max_module_bytes + sizeof(RecordedModule)));
        std::uint8_t* at = put_modules_head(payload_.data(), image_.image);
        for (const RecordedModule& module : modules) {
            const std::size_t id_bytes = std::min<std::size_t>(module.build_id_bytes, sizeof module.build_id);
            const std::size_t path_bytes = std::min<std::size_t>(module.path_bytes, sizeof module.path);
            at = put_module(at, {.begin = module.begin,
                                 .size = module.end - module.begin,
                                 .bias = module.bias,
                                 .build_id = {reinterpret_cast<const char*>(module.build_id), id_bytes},
                                 .path = {module.path, path_bytes},
                                 .first_ticks = module.seen_ticks,
                                 .gone_ticks = module.gone_ticks});
        }
        return put(ChunkKind::modules, at);
    }

  private:
    base::Expected<void> put(ChunkKind kind, const std::uint8_t* end)
    {
        const ChunkHeader header{.kind = kind, .process = image_.process, .sequence = sequence_++};
        const std::string_view payload{reinterpret_cast<const char*>(payload_.data()),
                                       static_cast<std::size_t>(end - payload_.data())};
        return put_chunk(take_, sealer_.sealed(header, payload));
    }

    StackImage image_;
    const TakeBytes& take_;
    ChunkSealer& sealer_;
    std::vector<std::uint8_t> payload_;
    std::uint64_t sequence_{};
};

// As many lines as are whole.
base::Expected<void> put_lines(const ReadAt& read, const StackFileHeader& header, SymbolsWriter symbols)
{
    const std::uint32_t count = std::min(header.lines, most_recorded_lines);
    const auto used = static_cast<std::uint32_t>(std::min<std::uint64_t>(header.line_bytes, lines_room));
    const auto bytes = MEMSWEEP_TRY(read_items<char>(read, stack_file_bytes(header.node_room), count == 0 ? 0U : used));
    std::string_view rest{bytes.data(), bytes.size()};
    for (std::uint32_t number = 0; number < count; ++number) {
        RecordedLine line;
        if (rest.size() < sizeof line) {
            break;
        }
        std::memcpy(&line, rest.data(), sizeof line);
        if (rest.size() < line.bytes()) {
            break;
        }
        const SourceFrame frame{rest.substr(sizeof line, line.function_bytes),
                                rest.substr(sizeof line + line.function_bytes, line.file_bytes), line.line};
        symbols.add(first_interpreted + number, {}, {&frame, 1});
        rest.remove_prefix(line.bytes());
    }
    return symbols.finish();
}

std::string python_of(const StackFileHeader& header)
{
    if (header.python == 0) {
        return {};
    }
    const std::uint32_t version = header.python;
    return fmt::format("{}.{}.{}{}", version >> 24U, version >> 16U & 0xFFU, version >> 8U & 0xFFU,
                       header.reads_python != 0 ? "" : ", whose calls are not in the stacks");
}

}  // namespace

base::Expected<KeptStacks> put_call_stacks(const ReadAt& read, StackImage image, const TakeBytes& take,
                                           ChunkSealer& sealer)
{
    StackFileHeader header;
    if (!MEMSWEEP_TRY(find_structure(read, 0, header)) || header.magic != stacks_magic) {
        return KeptStacks{};
    }
    StackChunks chunks{image, take, sealer};
    const std::uint32_t modules = std::min(header.modules, max_recorded_modules);
    const auto items = MEMSWEEP_TRY(read_items<RecordedModule>(read, modules_offset, modules));
    if (!items.empty()) {
        MEMSWEEP_TRY(chunks.put_modules(items));
    }
    const std::uint32_t end = std::min(header.nodes, max_stack_nodes);
    for (std::uint32_t first = 1; first < end;) {
        const std::uint32_t count = std::min(end - first, nodes_a_chunk);
        const auto nodes =
            MEMSWEEP_TRY(read_items<StackNode>(read, nodes_offset + std::uint64_t{first} * sizeof(StackNode), count));
        if (nodes.empty()) {
            break;
        }
        MEMSWEEP_TRY(chunks.put_frames(first, nodes));
        first += static_cast<std::uint32_t>(nodes.size());
    }
    if (header.sampled_every == modules_alone) {
        return KeptStacks{};
    }
    MEMSWEEP_TRY(put_lines(read, header, SymbolsWriter{take, image, &sealer}));
    return KeptStacks{header.sampled_every == 0 ? "full" : std::to_string(header.sampled_every), header.lost_stacks,
                      static_cast<int>(header.lost_errno), python_of(header)};
}

}  // namespace memsweep::trace
