#include "core/measure/memory_picture.hpp"

#include <algorithm>
#include <utility>

namespace memsweep::measure {
namespace {

constexpr std::uint64_t smallest_cell = 4096;
constexpr std::uint64_t largest_cell = 1ULL << 40U;

std::size_t cells_of(const sys::AddressSpace& space, std::uint64_t cell_bytes)
{
    std::size_t count = 0;
    std::uint64_t last = ~std::uint64_t{0};
    for (const sys::PageRun& run : space.pages) {
        if (!run.is_resident()) {
            continue;
        }
        const std::uint64_t first = run.begin / cell_bytes;
        count += (run.end - 1) / cell_bytes - first + (first == last ? 0 : 1);
        last = (run.end - 1) / cell_bytes;
    }
    return count;
}

bool belongs_to_last(const PictureArea& last, const sys::MappedArea& area, AreaRole role)
{
    return last.end == area.begin && (role == AreaRole::behind_file || (!area.name.empty() && area.name == last.name));
}

}  // namespace

std::array<std::uint64_t, memory_categories> PictureArea::bytes() const noexcept
{
    std::array<std::uint64_t, memory_categories> sums{};
    for (const PictureCell& cell : cells) {
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums.at(i) += cell.bytes.at(i);
        }
    }
    return sums;
}

PictureMaker::PictureMaker(const sys::AddressSpace& space, std::span<const AreaRole> roles, std::size_t most_cells)
{
    if (most_cells == 0) {
        return;
    }
    picture_.cell_bytes = smallest_cell;
    while (picture_.cell_bytes < largest_cell && cells_of(space, picture_.cell_bytes) > most_cells) {
        picture_.cell_bytes *= 2;
    }
    for (std::size_t i = 0; i < space.areas.size(); ++i) {
        const sys::MappedArea& area = space.areas[i];
        if (!picture_.areas.empty() && belongs_to_last(picture_.areas.back(), area, roles[i])) {
            picture_.areas.back().end = area.end;
        } else {
            picture_.areas.push_back({area.begin, area.end, area.name, {}});
        }
    }
}

PictureArea& PictureMaker::area_at(std::uint64_t address)
{
    while (picture_.areas[next_].end <= address) {
        ++next_;
    }
    return picture_.areas[next_];
}

void PictureMaker::add(std::uint64_t begin, MemoryCategory category, std::uint64_t bytes)
{
    if (picture_.cell_bytes == 0 || bytes == 0) {
        return;
    }
    PictureArea& area = area_at(begin);
    for (std::uint64_t left = bytes; left != 0;) {
        const std::uint64_t cell = begin / picture_.cell_bytes * picture_.cell_bytes;
        const std::uint64_t here = std::min(left, cell + picture_.cell_bytes - begin);
        if (area.cells.empty() || area.cells.back().begin != cell) {
            area.cells.push_back({cell, {}});
        }
        area.cells.back().bytes.at(static_cast<std::size_t>(category)) += here;
        begin += here;
        left -= here;
    }
}

MemoryPicture PictureMaker::take()
{
    std::erase_if(picture_.areas, [](const PictureArea& area) { return area.cells.empty(); });
    return std::move(picture_);
}

}  // namespace memsweep::measure
