#include <array>
#include <vector>

#include "core/base/rng.hpp"
#include "core/trace/import/fields.hpp"
#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t spacing = 16;
constexpr std::size_t most_classes = 1 << 26;

// Blocks of one size and stack. The log says which class loses a block, not which block.
struct BlockClass {
    std::uint64_t size{};
    std::vector<std::uint64_t> live;
    std::size_t oldest{};
};

class HeaptrackLines {
  public:
    HeaptrackLines(ImportSink& sink, FreeOrder order) : sink_{&sink}, order_{order} {}

    void add(std::string_view line, std::uint64_t line_number)
    {
        if (line.size() < 2 || line[1] != ' ') {
            return;
        }
        std::string_view rest = line.substr(2);
        switch (line[0]) {
        case 'a':
            check(add_class(rest), line_number);
            break;
        case '+':
            check(allocate(rest), line_number);
            break;
        case '-':
            check(release(rest), line_number);
            break;
        case 'c':
            milliseconds_ = number(trimmed(rest), 16).value_or(milliseconds_);
            break;
        default:  // strings, stacks, resident set
            break;
        }
    }

  private:
    void check(bool held, std::uint64_t line_number)
    {
        if (!held) {
            sink_->bad(line_number, "no numbers where numbers should be");
        }
    }

    bool add_class(std::string_view rest)
    {
        const auto size = number(take_until(rest, ' '), 16);
        if (!size || classes_.size() >= most_classes) {
            return false;
        }
        classes_.push_back({.size = *size});
        return true;
    }

    // "+ class", or in version 0 and raw logs "+ size stack pointer".
    bool allocate(std::string_view rest)
    {
        const auto first = number(take_until(rest, ' '), 16);
        if (!first) {
            return false;
        }
        if (!trimmed(rest).empty()) {
            static_cast<void>(take_until(rest, ' '));
            const auto address = number(trimmed(rest), 16);
            return address && put({.kind = EventKind::malloc, .address = *address, .size = *first});
        }
        if (*first >= classes_.size()) {
            return false;
        }
        BlockClass& blocks = classes_[*first];
        blocks.live.push_back(new_address());
        return put({.kind = EventKind::malloc, .address = blocks.live.back(), .size = blocks.size});
    }

    bool release(std::string_view rest)
    {
        const auto value = number(trimmed(rest), 16);
        if (!value) {
            return false;
        }
        if (classes_.empty()) {
            return put({.kind = EventKind::free, .address = *value});
        }
        if (*value >= classes_.size()) {
            return false;
        }
        BlockClass& blocks = classes_[*value];
        if (blocks.oldest == blocks.live.size()) {
            return put({.kind = EventKind::free, .address = 1});  // of nothing that is live
        }
        return put({.kind = EventKind::free, .address = take(blocks)});
    }

    std::uint64_t take(BlockClass& blocks)
    {
        if (order_ == FreeOrder::fifo) {
            const std::uint64_t address = blocks.live[blocks.oldest++];
            if (blocks.oldest * 2 > blocks.live.size()) {
                blocks.live.erase(blocks.live.begin(),
                                  blocks.live.begin() + static_cast<std::ptrdiff_t>(blocks.oldest));
                blocks.oldest = 0;
            }
            free_addresses_.push_back(address);
            return address;
        }
        if (order_ == FreeOrder::random) {
            std::swap(blocks.live[random_.below(blocks.live.size())], blocks.live.back());
        }
        const std::uint64_t address = blocks.live.back();
        blocks.live.pop_back();
        free_addresses_.push_back(address);
        return address;
    }

    std::uint64_t new_address()
    {
        if (free_addresses_.empty()) {
            return spacing * ++addresses_;
        }
        const std::uint64_t address = free_addresses_.back();
        free_addresses_.pop_back();
        return address;
    }

    bool put(Event event)
    {
        event.ticks = milliseconds_;
        sink_->add(event);
        return true;
    }

    ImportSink* sink_;
    FreeOrder order_;
    std::vector<BlockClass> classes_;
    std::vector<std::uint64_t> free_addresses_;
    std::uint64_t addresses_{};
    std::uint64_t milliseconds_{};
    base::Rng random_{1};
};

}  // namespace

base::Expected<void> import_heaptrack(LogText& log, ImportSink& sink, const ImportOptions& options)
{
    HeaptrackLines lines{sink, options.free_order};
    std::string_view line;
    while (log.line(line)) {
        lines.add(line, log.line_number());
    }
    return {};
}

}  // namespace memsweep::trace
