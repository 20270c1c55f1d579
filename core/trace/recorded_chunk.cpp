#include "core/trace/recorded_chunk.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/trace/format/event_encoder.hpp"
#include "core/trace/format/event_words.hpp"
#include "core/trace/format/stack_layout.hpp"

namespace memsweep::trace {
namespace {

// An event is at least one word, and in the long form of its operands at least three.
constexpr std::size_t bytes_per_word = 32;
static_assert(max_event_bytes <= 3 * bytes_per_word);

std::uint8_t* encode(EventEncoder& encoder, std::uint8_t* at, WordEvent event,
                     const std::array<std::uint64_t, max_operands>& values)
{
    const auto id = static_cast<std::uint32_t>(values[0]);
    switch (event) {
    case WordEvent::free:
        return encoder.free(at, values[0]);
    case WordEvent::malloc:
        return encoder.malloc(at, values[0], values[1]);
    case WordEvent::calloc:
        return encoder.sized(at, OtherOperation::calloc, values[0], values[1]);
    case WordEvent::realloc:
        return encoder.realloc(at, values[2], values[0], values[1]);
    case WordEvent::aligned_alloc:
        return encoder.aligned_alloc(at, values[0], values[1], values[2]);
    case WordEvent::failed_alloc:
        return encoder.counted(at, OtherOperation::failed_alloc, values[0]);
    case WordEvent::map:
        return encoder.sized(at, OtherOperation::map, values[0], values[1]);
    case WordEvent::unmap:
        return encoder.sized(at, OtherOperation::unmap, values[0], values[1]);
    case WordEvent::thread_start:
        return encoder.counted(at, OtherOperation::thread_start, id);
    case WordEvent::process:
        return encoder.counted(at, OtherOperation::process, id);
    case WordEvent::thread:
        return encoder.counted(at, OtherOperation::thread, id);
    case WordEvent::fork:
        return encoder.counted(at, OtherOperation::fork, id);
    case WordEvent::thread_exit:
        return encoder.bare(at, OtherOperation::thread_exit);
    case WordEvent::stamp:
        return encoder.stamp(at, values[0]);
    case WordEvent::thread_stack:
    case WordEvent::usable_size:
    case WordEvent::stack:
    case WordEvent::caller:
        break;
    }
    return at;
}

bool is_context(WordEvent event)
{
    return event == WordEvent::stamp || event == WordEvent::process || event == WordEvent::thread ||
           event == WordEvent::stack || event == WordEvent::caller || event == WordEvent::thread_stack ||
           event == WordEvent::usable_size;
}

// As takes_stack() has it.
bool has_stack(WordEvent event, std::uint64_t address)
{
    switch (event) {
    case WordEvent::malloc:
    case WordEvent::calloc:
    case WordEvent::aligned_alloc:
    case WordEvent::failed_alloc:
    case WordEvent::map:
        return true;
    case WordEvent::realloc:
        return address != 0;
    default:
        return false;
    }
}

// Of those.
bool gives_block(WordEvent event)
{
    return event != WordEvent::failed_alloc && event != WordEvent::map;
}

std::vector<std::uint8_t> runs_of(const std::vector<std::uint32_t>& numbers)
{
    if (std::ranges::all_of(numbers, [](std::uint32_t number) { return number == 0; })) {
        return {};
    }
    std::vector<std::uint8_t> runs((numbers.size() + 1) * StacksEncoder::max_run_bytes);
    StacksEncoder encoder;
    std::uint8_t* at = runs.data();
    for (const std::uint32_t number : numbers) {
        at = encoder.add(at, number);
    }
    runs.resize(static_cast<std::size_t>(encoder.finish(at) - runs.data()));
    return runs;
}

// The addresses, each once, and whose turn it is.
std::vector<std::uint8_t> caller_runs_of(const std::vector<std::uint64_t>& callers)
{
    std::vector<std::uint64_t> addresses;
    std::uint64_t last = 0;
    for (const std::uint64_t caller : callers) {
        if (caller != last && caller != 0) {
            addresses.push_back(caller);
        }
        last = caller;
    }
    std::ranges::sort(addresses);
    addresses.erase(std::ranges::unique(addresses).begin(), addresses.end());
    if (addresses.empty()) {
        return {};
    }
    std::vector<std::uint32_t> numbers;
    numbers.reserve(callers.size());
    std::uint32_t number = 0;
    last = 0;
    for (const std::uint64_t caller : callers) {
        if (caller != last) {
            const auto place = std::ranges::lower_bound(addresses, caller);
            number = caller == 0 ? 0 : static_cast<std::uint32_t>(place - addresses.begin()) + 1;
            last = caller;
        }
        numbers.push_back(number);
    }
    std::vector<std::uint8_t> payload((addresses.size() + 2) * max_varint_bytes);
    payload.resize(static_cast<std::size_t>(put_callers(payload.data(), addresses) - payload.data()));
    const std::vector<std::uint8_t> runs = runs_of(numbers);
    payload.insert(payload.end(), runs.begin(), runs.end());
    return payload;
}

// Where the parent has no number, it is in another namespace than its child.
std::uint64_t process_in_trace(const ImageFacts& image, std::uint64_t process)
{
    const bool is_of_its_namespace = image.parent != 0 || process == image.process;
    return is_of_its_namespace ? number_in_trace(image, static_cast<std::uint32_t>(process)) : process;
}

}  // namespace

RecordedChunk ChunkTranslator::translated(const ChunkHeader& header, std::span<const std::uint8_t> payload,
                                          const ImageFacts& image)
{
    words_.resize(payload.size() / sizeof(std::uint64_t));
    if (!words_.empty()) {
        std::memcpy(words_.data(), payload.data(), words_.size() * sizeof(std::uint64_t));
    }
    ChunkHeader written{.flags = static_cast<std::uint8_t>(header.flags & chunk_ticked),
                        .process = number_in_trace(image),
                        .thread = header.thread,
                        .sequence = header.sequence,
                        .first_ticks = header.first_ticks};
    events_.resize(std::max(events_.size(), words_.size() * bytes_per_word + max_event_bytes));
    EventEncoder encoder{written.rotation, written.first_ticks};
    std::uint8_t* at = events_.data();
    WordDecoder decoder{words_};
    WordEvent event{};
    std::array<std::uint64_t, max_operands> values{};
    bool ends_thread = false;
    std::uint32_t stack = 0;
    std::uint64_t caller = 0;
    stacks_.clear();
    callers_.clear();
    mappers_.clear();
    std::vector<std::uint64_t> thread_stacks;
    std::vector<std::uint64_t> usable_sizes;
    while (decoder.next(event, values)) {
        if (event == WordEvent::stack) {
            stack = static_cast<std::uint32_t>(values[0]);
            continue;
        }
        if (event == WordEvent::caller) {
            caller = values[0];
            continue;
        }
        if (event == WordEvent::thread_stack) {
            thread_stacks.insert(thread_stacks.end(), {values[0], values[1]});
            continue;
        }
        if (event == WordEvent::usable_size) {
            usable_sizes.insert(usable_sizes.end(), values.begin(), values.end());
            continue;
        }
        if (has_stack(event, values[0])) {
            stacks_.push_back(stack);
            callers_.push_back(stack == 0 && gives_block(event) ? caller : 0);
        }
        stack = 0;
        if (event == WordEvent::map || event == WordEvent::unmap) {
            mappers_.push_back(static_cast<std::uint32_t>(values[2]));
        }
        if (event == WordEvent::process || event == WordEvent::fork) {
            values[0] = process_in_trace(image, values[0]);
        }
        at = encode(encoder, at, event, values);
        written.events += is_context(event) ? 0U : 1U;
        ends_thread = event == WordEvent::thread_exit || (ends_thread && is_context(event));
    }
    written.last_ticks = encoder.last_ticks();
    const auto length = static_cast<std::size_t>(at - events_.data());
    return {sealer_.sealed(written, {reinterpret_cast<const char*>(events_.data()), length}),
            runs_of(stacks_),
            runs_of(mappers_),
            caller_runs_of(callers_),
            std::move(thread_stacks),
            std::move(usable_sizes),
            decoder.damaged(),
            ends_thread};
}

}  // namespace memsweep::trace
