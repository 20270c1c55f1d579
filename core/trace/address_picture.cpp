#include "core/trace/address_picture.hpp"

#include <algorithm>
#include <cmath>

namespace memsweep::trace {
namespace {

struct Rectangle {
    std::uint64_t address{};
    std::uint64_t size{};
    std::uint64_t born{};  // operation
};

// How much of the cells from `first` on a stretch covers, in cells: [begin, end) within them.
struct Cover {
    double begin{};
    double end{};
    [[nodiscard]] double of(std::size_t cell) const
    {
        const auto at = static_cast<double>(cell);
        return std::max(0.0, std::min(end, at + 1) - std::max(begin, at));
    }
    [[nodiscard]] std::size_t first() const { return static_cast<std::size_t>(begin); }
    [[nodiscard]] std::size_t last(std::size_t cells) const
    {
        return std::min(cells, static_cast<std::size_t>(std::ceil(end)));
    }
};

class Painter {
  public:
    explicit Painter(AddressPicture& picture) : picture_{&picture} {}

    void add(const Rectangle& block, std::uint64_t died)
    {
        const Cover time = cover(block.born, died, picture_->operations, picture_->columns);
        const Cover place = cover(block.address, block.address + block.size, picture_->bytes, picture_->rows);
        for (std::size_t column = time.first(); column < time.last(picture_->columns); ++column) {
            const double share = time.of(column);
            for (std::size_t row = place.first(); row < place.last(picture_->rows); ++row) {
                picture_->taken[column * picture_->rows + row] += static_cast<float>(share * place.of(row));
            }
        }
    }

  private:
    static Cover cover(std::uint64_t begin, std::uint64_t end, std::uint64_t whole, std::size_t cells)
    {
        const double scale = static_cast<double>(cells) / static_cast<double>(whole);
        return {static_cast<double>(begin) * scale, static_cast<double>(end) * scale};
    }

    AddressPicture* picture_;
};

}  // namespace

std::optional<AddressPicture> picture_addresses(const PlacementOps& ops, const PlacementPolicy& policy,
                                                const FitOptions& options, std::size_t columns, std::size_t rows)
{
    const auto sized = policy.make(unbounded, options.alignment);
    for (const PlacementOps::Op& op : ops.ops) {
        if (op.is_free) {
            sized->release(op.block);
        } else if (!sized->place(op.block, op.size) || !sized->place_of(op.block)) {
            return std::nullopt;
        }
    }
    if (ops.ops.empty() || sized->needed() == 0) {
        return std::nullopt;
    }
    AddressPicture picture{.columns = columns,
                           .rows = rows,
                           .operations = ops.ops.size(),
                           .bytes = sized->needed(),
                           .taken = std::vector<float>(columns * rows),
                           .live = std::vector<std::uint64_t>(columns),
                           .high = std::vector<std::uint64_t>(columns)};
    Painter painter{picture};
    const auto placement = policy.make(unbounded, options.alignment);
    std::vector<Rectangle> blocks;
    std::uint64_t live = 0;
    for (std::uint64_t i = 0; i < ops.ops.size(); ++i) {
        const PlacementOps::Op& op = ops.ops[i];
        if (op.block >= blocks.size()) {
            blocks.resize(std::size_t{op.block} + 1);
        }
        Rectangle& block = blocks[op.block];
        if (op.is_free) {
            painter.add(block, i);
            block.size = 0;
            placement->release(op.block);
            live -= op.size;
        } else {
            static_cast<void>(placement->place(op.block, op.size));
            const Placement::Range range = *placement->place_of(op.block);
            block = {range.address, range.size, i};
            live += op.size;
        }
        const auto column = static_cast<std::size_t>(i * columns / ops.ops.size());
        picture.live[column] = std::max(picture.live[column], live);
        picture.high[column] = placement->needed();
    }
    for (const Rectangle& block : blocks) {
        if (block.size != 0) {
            painter.add(block, ops.ops.size());
        }
    }
    // Traces with fewer operations than columns leave columns without one.
    for (std::size_t column = 1; column < columns; ++column) {
        picture.high[column] = std::max(picture.high[column], picture.high[column - 1]);
    }
    return picture;
}

}  // namespace memsweep::trace
