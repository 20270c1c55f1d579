#include "core/trace/stack_table.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/trace/bounds.hpp"

namespace memsweep::trace {

StackTable::ChunkKey StackTable::key_of(const ChunkHeader& header)
{
    return {header.process, header.thread, header.sequence, header.first_ticks};
}

StackTable StackTable::read(TraceFile& file)
{
    StackTable table;
    Trees trees;
    for (const ChunkPlace& chunk : file.side_chunks()) {
        if (chunk.header.kind == ChunkKind::stacks) {
            table.stacks_[key_of(chunk.header)] = chunk;
            continue;
        }
        const bool is_for_stacks = chunk.header.kind <= ChunkKind::symbols || chunk.header.kind == ChunkKind::callers;
        std::vector<std::uint8_t> payload;
        if (!is_for_stacks || !file.read_payload(chunk, payload)) {
            continue;
        }
        if (chunk.header.kind == ChunkKind::frames) {
            table.take_frames(payload, chunk.header.process, trees, file);
        } else if (chunk.header.kind == ChunkKind::callers) {
            table.callers_[key_of(chunk.header)] = chunk;
            table.take_callers(payload, chunk.header.process, trees, file);
        } else if (chunk.header.kind == ChunkKind::symbols) {
            table.payloads_.push_back(std::move(payload));
            table.take_symbols(chunk.header.process, file);
        } else if (!table.modules_.take(std::move(payload), chunk.header.process, table.held_,
                                        most_held_by_trace(file.stored_bytes()))) {
            file.count_corrupted();
        }
    }
    table.join(trees);
    std::ranges::stable_sort(table.symbols_, {}, [](const Symbol& symbol) {
        return std::pair{symbol.image, symbol.address};
    });
    return table;
}

// Nodes that are missing, their chunk being damaged, stand for themselves: an unknown address without a caller.
void StackTable::take_frames(const std::vector<std::uint8_t>& payload, std::uint32_t process, Trees& trees,
                             TraceFile& file)
{
    FramesDecoder decoder{payload};
    std::vector<FrameNode>& tree = trees.nodes[{process, decoder.image()}];
    FrameNode node;
    for (;;) {
        const std::size_t place = decoder.number() - std::size_t{1};
        if (!decoder.next(node)) {
            break;
        }
        const std::uint64_t added = place < tree.size() ? 0 : place + 1 - tree.size();
        if (held_ + added > most_held_by_trace(file.stored_bytes())) {
            file.count_corrupted();
            return;
        }
        held_ += added;
        tree.resize(std::max(tree.size(), place + 1));
        tree[place] = node;
    }
    if (decoder.damaged()) {
        file.count_corrupted();
    }
}

// The addresses alone: whose turn each is, the events of the chunk ask.
void StackTable::take_callers(const std::vector<std::uint8_t>& payload, std::uint32_t process, Trees& trees,
                              TraceFile& file)
{
    CallersDecoder decoder{payload};
    std::vector<std::uint64_t>& callers = trees.callers[{process, decoder.image()}];
    const std::size_t known = callers.size();
    std::uint64_t address{};
    while (decoder.next(address)) {
        if (held_ >= most_held_by_trace(file.stored_bytes())) {
            file.count_corrupted();
            return;
        }
        if (!std::binary_search(callers.begin(), callers.begin() + static_cast<std::ptrdiff_t>(known), address)) {
            ++held_;
            callers.push_back(address);
        }
    }
    std::ranges::sort(callers);
    callers.erase(std::ranges::unique(callers).begin(), callers.end());
    if (decoder.damaged()) {
        file.count_corrupted();
    }
}

void StackTable::join(Trees& trees)
{
    for (const auto& [image, callers] : trees.callers) {
        trees.nodes.try_emplace(image);
        has_callers_ = has_callers_ || !callers.empty();
    }
    for (auto& [image, tree] : trees.nodes) {
        const std::vector<std::uint64_t>& callers = trees.callers[image];
        if (tree.size() + callers.size() + 1 > std::numeric_limits<std::uint32_t>::max() - nodes_.size()) {
            break;
        }
        const std::uint32_t first = count();
        for (const FrameNode& node : tree) {
            nodes_.push_back({node.parent == 0 ? 0 : first + node.parent - 1, node.address});
        }
        const std::uint32_t not_followed = count();
        if (!callers.empty()) {
            nodes_.push_back({0, callers_not_followed});
        }
        places_.push_back({.image = image,
                           .first = first,
                           .count = static_cast<std::uint32_t>(tree.size()),
                           .first_caller = count(),
                           .callers = static_cast<std::uint32_t>(callers.size())});
        for (const std::uint64_t address : callers) {
            nodes_.push_back({not_followed, address});
        }
        tree = {};
    }
}

void StackTable::take_symbols(std::uint32_t process, TraceFile& file)
{
    payload::Cursor cursor{payloads_.back()};
    Symbol symbol{.image = {.process = process}};
    std::vector<std::string_view> texts;
    bool is_good = cursor.small_number(symbol.image.image);
    while (is_good && !cursor.at_end()) {
        is_good = take_symbol(cursor, symbol, texts) && held_ <= most_held_by_trace(file.stored_bytes());
    }
    if (!is_good) {
        file.count_corrupted();
    }
}

bool StackTable::take_symbol(payload::Cursor& cursor, Symbol& symbol, std::vector<std::string_view>& texts)
{
    const auto text = [&](std::string_view& value) {
        std::uint64_t number{};
        if (!cursor.number(number)) {
            return false;
        }
        if (number == new_text) {
            ++held_;
            return cursor.text(texts.emplace_back()) && (value = texts.back(), true);
        }
        value = {};
        if (number >= first_text) {
            if (number - first_text >= texts.size()) {
                return false;
            }
            value = texts[number - first_text];
        }
        return true;
    };
    std::uint64_t step{};
    if (!cursor.number(step) || !text(symbol.module) || !cursor.small_number(symbol.frames)) {
        return false;
    }
    symbol.address += unzigzag(step);
    symbol.first_frame = static_cast<std::uint32_t>(frames_.size());
    for (std::uint32_t i = 0; i < symbol.frames; ++i) {
        SourceFrame frame;
        if (!text(frame.function) || !text(frame.file) || !cursor.small_number(frame.line)) {
            return false;
        }
        frames_.push_back(frame);
    }
    held_ += 1 + symbol.frames;
    symbols_.push_back(symbol);
    return true;
}

const StackTable::Place* StackTable::place_of(std::uint32_t number) const
{
    const auto behind = std::ranges::upper_bound(places_, number, {}, &Place::first);
    return behind == places_.begin() ? nullptr : &*std::prev(behind);
}

const StackImage& StackTable::image_of(std::uint32_t number) const
{
    static constexpr StackImage none{};
    const Place* const place = place_of(number);
    return place == nullptr ? none : place->image;
}

std::uint32_t StackTable::find_caller(const StackImage& image, std::uint64_t address) const
{
    const auto place = std::ranges::lower_bound(places_, image, {}, &Place::image);
    if (place == places_.end() || place->image != image) {
        return 0;
    }
    const auto callers = std::span{nodes_}.subspan(place->first_caller, place->callers);
    const auto found = std::ranges::lower_bound(callers, address, {}, &FrameNode::address);
    const bool is_there = found != callers.end() && found->address == address;
    return is_there ? place->first_caller + static_cast<std::uint32_t>(found - callers.begin()) : 0;
}

std::uint32_t StackTable::caller_of(std::uint32_t number) const
{
    const Place* const place = number == 0 ? nullptr : place_of(number);
    if (place == nullptr || number >= place->first_caller) {
        return place == nullptr ? 0 : number;
    }
    return find_caller(place->image, nodes_[number].address);
}

std::uint32_t StackTable::find(const StackImage& image, std::uint32_t node) const
{
    const auto place = std::ranges::lower_bound(places_, image, {}, &Place::image);
    const bool is_there = place != places_.end() && place->image == image && node != 0 && node <= place->count;
    return is_there ? place->first + node - 1 : 0;
}

std::optional<NamedAddress> StackTable::names(const StackImage& image, std::uint64_t address) const
{
    const auto key = [](const Symbol& symbol) { return std::pair{symbol.image, symbol.address}; };
    const auto found = std::ranges::lower_bound(symbols_, std::pair{image, address}, {}, key);
    if (found == symbols_.end() || key(*found) != std::pair{image, address}) {
        return std::nullopt;
    }
    return NamedAddress{found->module, std::span{frames_}.subspan(found->first_frame, found->frames)};
}

const ChunkPlace* StackTable::stacks_of(const ChunkHeader& events) const
{
    const auto found = stacks_.find(key_of(events));
    return found == stacks_.end() ? nullptr : &found->second;
}

const ChunkPlace* StackTable::callers_of(const ChunkHeader& events) const
{
    const auto found = callers_.find(key_of(events));
    return found == callers_.end() ? nullptr : &found->second;
}

ChunkStacks::ChunkStacks(const StackTable& table, TraceFile& file, const ChunkHeader& events)
    : numbers_{table.stacks_of(events), file, events}, table_{&table}
{
    if (const ChunkPlace* const callers = table.callers_of(events)) {
        take_callers(*callers, file, events);
    }
}

void ChunkStacks::take_callers(const ChunkPlace& place, TraceFile& file, const ChunkHeader& events)
{
    if (!file.read_payload(place, caller_payload_)) {
        return;
    }
    CallersDecoder decoder{caller_payload_};
    std::uint64_t address{};
    while (decoder.next(address)) {
        caller_numbers_.push_back(table_->find_caller({events.process, decoder.image()}, address));
    }
    callers_ = decoder.damaged() ? StacksDecoder{} : decoder.runs();
    if (callers_.sequence() != events.sequence) {
        has_strange_ = true;
        callers_ = {};
    }
}

std::uint32_t ChunkStacks::next()
{
    const std::uint32_t node = numbers_.next();
    if (node != last_) {
        last_ = node;
        number_ = table_->find(numbers_.image(), node);
        has_strange_ = has_strange_ || (node != 0 && number_ == 0);
    }
    const std::uint32_t caller = callers_.next();
    if (node != 0 || caller == 0) {
        return number_;
    }
    has_strange_ = has_strange_ || caller > caller_numbers_.size();
    return caller > caller_numbers_.size() ? 0 : caller_numbers_[caller - 1];
}

}  // namespace memsweep::trace
