#include <optional>
#include <string>
#include <vector>

#include "core/base/rng.hpp"
#include "core/trace/import/import.hpp"

namespace memsweep::trace {
namespace {

constexpr std::size_t max_block_classes = 1 << 26;

bool is_heaptrack(std::string_view head)
{
    return has_line_with(head, "v ", "") || has_line_with(head, "X ", "") || has_line_with(head, "x ", "");
}

// Blocks of one size and stack. The log says which class loses a block, not which block.
struct BlockClass {
    std::uint64_t size{};
    std::uint32_t stack{};
    std::vector<std::uint32_t> live;  // numbers of blocks
    std::size_t oldest{};
};

// The call stacks of a log: texts, addresses with their names, and stacks, each by its number from 1. A raw log has
// neither texts nor names, and the addresses in its stacks.
class HeaptrackStacks {
  public:
    explicit HeaptrackStacks(ImportSink& sink) : sink_{&sink} {}

    void set_version(std::uint64_t version) { has_lengths_ = version >= first_version_with_lengths; }

    void add_text(std::string_view rest)
    {
        if (has_lengths_) {
            static_cast<void>(take_until(rest, ' '));
        }
        texts_.emplace_back(rest);
        text_bytes_ += rest.size();
    }

    // "address module [function [file line [function file line of the caller that it is inlined into ...]]]"
    bool add_address(std::string_view rest)
    {
        const auto address = parse_number(take_until(rest, ' '), 16);
        const auto module = parse_number(take_until(rest, ' '), 16);
        addresses_.push_back(address.value_or(0));
        std::vector<SourceFrame> frames;
        bool is_good = address && (module || trimmed(rest).empty());
        while (is_good && !trimmed(rest).empty()) {
            const auto function = parse_number(take_until(rest, ' '), 16);
            const auto file = rest.empty() ? std::optional<std::uint64_t>{0} : parse_number(take_until(rest, ' '), 16);
            const auto line = rest.empty() ? std::optional<std::uint64_t>{0} : parse_number(take_until(rest, ' '), 16);
            is_good = function && file && line;
            if (is_good) {
                frames.push_back({text(*function), text(*file), static_cast<std::uint32_t>(*line)});
            }
        }
        if (is_good) {
            sink_->name_address(*address, text(module.value_or(0)), frames);
        }
        return is_good;
    }

    // "address caller"
    bool add_stack(std::string_view rest)
    {
        const auto address = parse_number(take_until(rest, ' '), 16);
        const auto caller = parse_number(trimmed(rest), 16);
        const bool is_good = address && caller;
        const bool is_raw = addresses_.empty();
        std::uint32_t stack = 0;
        if (is_good && is_raw) {
            stack = sink_->stack(of(*caller), *address);
        } else if (is_good && *address != 0 && *address <= addresses_.size()) {
            stack = sink_->stack(of(*caller), addresses_[*address - 1]);
        }
        stacks_.push_back(stack);
        return is_good;
    }

    [[nodiscard]] std::uint32_t of(std::uint64_t number) const
    {
        return number == 0 || number > stacks_.size() ? 0 : stacks_[number - 1];
    }
    [[nodiscard]] std::uint64_t held() const { return texts_.size() + text_bytes_ / bytes_of_a_thing; }

  private:
    static constexpr std::uint64_t first_version_with_lengths = 3;

    [[nodiscard]] std::string_view text(std::uint64_t number) const
    {
        return number == 0 || number > texts_.size() ? std::string_view{} : texts_[number - 1];
    }

    ImportSink* sink_;
    std::vector<std::string> texts_;
    std::vector<std::uint64_t> addresses_;
    std::vector<std::uint32_t> stacks_;
    std::uint64_t text_bytes_{};
    bool has_lengths_{};
};

class HeaptrackLines {
  public:
    HeaptrackLines(ImportSink& sink, const ImportOptions& options)
        : sink_{&sink}, order_{options.free_order}, stacks_{sink}
    {
    }

    const char* add(std::string_view line)
    {
        if (trimmed(line).empty()) {
            return nullptr;
        }
        if (trimmed(line) == "A") {
            sink_->state_fact(beginning_fact, "heaptrack was attached to the program while it ran");
            return nullptr;
        }
        if (line.size() < 2 || line[1] != ' ' || modes.find(line[0]) == std::string_view::npos) {
            return "not a line of heaptrack: expected a letter and a blank";
        }
        const std::string_view rest = line.substr(2);
        bool good = true;
        if (line[0] == 'a') {
            good = add_class(rest);
        } else if (line[0] == '+') {
            good = allocate(rest);
        } else if (line[0] == '-') {
            good = release(rest);
        } else if (line[0] == 'c') {
            const auto milliseconds = parse_number(trimmed(rest), 16);
            good = milliseconds.has_value();
            milliseconds_ = milliseconds.value_or(milliseconds_);
        } else if (line[0] == '#') {
            read_declaration(rest);
        } else if (line[0] == 'i') {
            good = stacks_.add_address(rest);
        } else if (line[0] == 't') {
            good = stacks_.add_stack(rest);
        } else if (line[0] == 's') {
            stacks_.add_text(rest);
            sink_->hold(classes_.size() + stacks_.held());
        } else if (line[0] == 'v') {
            read_version(rest);
        }
        strings_ += line[0] == 's' ? 1U : 0U;
        instructions_ += line[0] == 'i' ? 1U : 0U;
        return good ? nullptr : "missing or invalid number";  // other lines are not read: the resident set, modules
    }

    // heaptrack_interpret ends its log with two comments: how many strings and instruction pointers it has written.
    [[nodiscard]] const char* finish() const
    {
        const bool differs = declared_strings_.value_or(strings_) != strings_ ||
                             declared_instructions_.value_or(instructions_) != instructions_;
        return differs ? "not as many strings or instruction pointers as the log declares: part of it is missing"
                       : nullptr;
    }

  private:
    static constexpr std::string_view modes = "#+-ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    void read_declaration(std::string_view rest)
    {
        const std::string_view name = take_until(rest, ' ');
        if (name == "strings:") {
            declared_strings_ = parse_number(trimmed(rest));
        } else if (name == "ips:") {
            declared_instructions_ = parse_number(trimmed(rest));
        }
    }

    // "heaptrack's version, the format's"
    void read_version(std::string_view rest)
    {
        static_cast<void>(take_until(rest, ' '));
        stacks_.set_version(parse_number(trimmed(rest), 16).value_or(0));
    }

    bool add_class(std::string_view rest)
    {
        const auto size = parse_number(take_until(rest, ' '), 16);
        if (!size || classes_.size() >= max_block_classes) {
            return false;
        }
        classes_.push_back({.size = *size, .stack = stacks_.of(parse_number(trimmed(rest), 16).value_or(0))});
        sink_->hold(classes_.size() + stacks_.held());
        return true;
    }

    // "+ class", or in version 0 and raw logs "+ size stack pointer".
    bool allocate(std::string_view rest)
    {
        const auto first = parse_number(take_until(rest, ' '), 16);
        if (!first) {
            return false;
        }
        if (!trimmed(rest).empty()) {
            const auto stack = parse_number(take_until(rest, ' '), 16);
            const auto address = parse_number(trimmed(rest), 16);
            return address && put({.kind = EventKind::malloc,
                                   .address = *address,
                                   .size = *first,
                                   .stack = stacks_.of(stack.value_or(0))});
        }
        if (*first >= classes_.size()) {
            return false;
        }
        BlockClass& blocks = classes_[*first];
        blocks.live.push_back(numbers_.take());
        return put({.kind = EventKind::malloc,
                    .address = made_address(blocks.live.back()),
                    .size = blocks.size,
                    .stack = blocks.stack});
    }

    bool release(std::string_view rest)
    {
        const auto value = parse_number(trimmed(rest), 16);
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
            return put({.kind = EventKind::free, .address = 1});  // an address at which nothing is live
        }
        const std::uint32_t block = take(blocks);
        numbers_.give_back(block);
        return put({.kind = EventKind::free, .address = made_address(block)});
    }

    std::uint32_t take(BlockClass& blocks)
    {
        if (order_ == FreeOrder::fifo) {
            const std::uint32_t block = blocks.live[blocks.oldest++];
            if (blocks.oldest * 2 > blocks.live.size()) {
                blocks.live.erase(blocks.live.begin(),
                                  blocks.live.begin() + static_cast<std::ptrdiff_t>(blocks.oldest));
                blocks.oldest = 0;
            }
            return block;
        }
        if (order_ == FreeOrder::random) {
            std::swap(blocks.live[random_.below(blocks.live.size())], blocks.live.back());
        }
        const std::uint32_t block = blocks.live.back();
        blocks.live.pop_back();
        return block;
    }

    bool put(Event event)
    {
        event.ticks = milliseconds_;
        sink_->add(event);
        return true;
    }

    ImportSink* sink_;
    FreeOrder order_;
    HeaptrackStacks stacks_;
    std::vector<BlockClass> classes_;
    RecycledNumbers numbers_;
    std::uint64_t milliseconds_{};
    std::uint64_t strings_{};
    std::uint64_t instructions_{};
    std::optional<std::uint64_t> declared_strings_;
    std::optional<std::uint64_t> declared_instructions_;
    base::Rng random_{1};
};

}  // namespace

constinit const ImportFormat heaptrack_format{"heaptrack", "heaptrack, interpreted or raw, also gz or zst", 1000,
                                              is_heaptrack, import_lines<HeaptrackLines>};

}  // namespace memsweep::trace
