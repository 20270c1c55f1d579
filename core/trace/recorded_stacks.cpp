#include "core/trace/recorded_stacks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/format/stack_recording.hpp"
#include "core/trace/recorded_pieces.hpp"

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
    return KeptStacks{header.sampled_every == 0 ? "full" : std::to_string(header.sampled_every), header.lost_stacks,
                      static_cast<int>(header.lost_errno)};
}

}  // namespace memsweep::trace
