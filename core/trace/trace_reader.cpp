#include "core/trace/trace_reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/trace/bounds.hpp"
#include "core/trace/end_mark.hpp"
#include "core/trace/exact_cut.hpp"

namespace memsweep::trace {
namespace {

// Behind the stamp of a ticked chunk. What a program does before it waits it does at about this pace; where it is
// slower, its events come up to a tick too early.
constexpr std::uint64_t events_a_second = 500'000;

// Spreads events evenly between the stamp of the first one and that time: their own times are not known.
void spread(std::vector<Event>& batch, std::uint64_t until)
{
    const std::uint64_t count = batch.size();
    for (std::uint64_t i = 1; i < count; ++i) {
        const std::uint64_t begun = batch.front().ticks;
        batch[i].ticks = begun + (until - begun) / count * i + (until - begun) % count * i / count;
    }
}

}  // namespace

std::uint64_t EventStream::next_chunk_ticks() const noexcept
{
    return next_chunk_ < end_chunk() ? chunks_[next_chunk_].header.first_ticks
                                     : std::numeric_limits<std::uint64_t>::max();
}

bool EventStream::is_cut_off() const noexcept
{
    return next_chunk_ == end_chunk_ && events_ == most_events_;
}

void EventStream::note_damage(TraceFile& file) const
{
    if (table_ != nullptr && !decoder_.damaged() && !stacks_.is_whole()) {
        file.count_corrupted();
    }
    if (notes_ != nullptr && !decoder_.damaged() && !mappers_.is_whole()) {
        file.count_corrupted();
    }
    if (decoder_.damaged() && (chunks_[next_chunk_ - 1].header.flags & chunk_unsealed) == 0) {
        file.count_corrupted();
    }
}

bool EventStream::open_next(TraceFile& file)
{
    const ChunkPlace& chunk = chunks_[next_chunk_++];
    if (!file.read_payload(chunk, payload_)) {
        payload_.clear();
        return false;
    }
    events_ = 0;
    is_ticked_ = (chunk.header.flags & chunk_ticked) != 0;
    decoder_ = EventDecoder{chunk.header, payload_};
    if (table_ != nullptr) {
        stacks_ = ChunkStacks{*table_, file, chunk.header};
    }
    if (notes_ != nullptr) {
        mappers_ = ChunkMappers{*notes_, file, chunk.header};
    }
    return true;
}

bool EventStream::next(TraceFile& file, Event& event)
{
    for (;;) {
        if (!payload_.empty()) {
            if (!is_cut_off() && decoder_.next(event)) {
                ++events_;
                if (event.ticks > most_ticks_) {
                    payload_.clear();
                    next_chunk_ = end_chunk();
                    return false;
                }
                if (table_ != nullptr && takes_stack(event.kind, event.address)) {
                    event.stack = stacks_.next();
                }
                if (notes_ != nullptr && takes_mapper(event.kind)) {
                    event.module = mappers_.next();
                }
                if (has_no_process_exit_ && event.kind == EventKind::process_exit) {
                    continue;
                }
                return true;
            }
            if (!is_cut_off()) {
                note_damage(file);
            }
            latest_ticks_ = std::max(chunks_[next_chunk_ - 1].header.last_ticks, decoder_.ticks());
            payload_.clear();
        }
        if (next_chunk_ == end_chunk()) {
            payload_.shrink_to_fit();
            return false;
        }
        static_cast<void>(open_next(file));
    }
}

void EventStream::rewind()
{
    next_chunk_ = 0;
    latest_ticks_ = 0;
    payload_.clear();
}

// A chunk that was being written ends at its thread's cut. Every other was whole, or has events of a later time alone:
// a thread that stood while it began one stamps it when it goes on.
void EventStream::end_at(const ExactCut& cut)
{
    end_chunk_ = 0;
    most_events_ = UINT64_MAX;
    has_no_process_exit_ = !chunks_.empty() && cut.processes.contains(chunks_.front().header.process);
    most_ticks_ = cut.ticks;
    for (const ChunkPlace& chunk : chunks_) {
        const auto own =
            std::ranges::find_if(cut.threads, [&](const ThreadCut& thread) { return thread.is_in(chunk.header); });
        if (own == cut.threads.end() && chunk.header.first_ticks > cut.ticks) {
            return;
        }
        ++end_chunk_;
        if (own != cut.threads.end()) {
            most_events_ = own->events;
            has_no_process_exit_ = false;
            return;
        }
    }
}

void EventStream::end_at_last()
{
    end_chunk_ = SIZE_MAX;
    most_events_ = UINT64_MAX;
    most_ticks_ = UINT64_MAX;
    has_no_process_exit_ = false;
}

std::uint64_t TraceReader::Queue::due() const noexcept
{
    if (!is_empty()) {
        return front().ticks;
    }
    if (following) {
        return following->ticks;
    }
    return stream.between_chunks() || batch.empty() ? stream.next_chunk_ticks() : batch.back().ticks;
}

TraceReader::TraceReader(TraceFile file, std::string name) : file_{std::move(file)}, name_{std::move(name)}
{
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> index;
    for (const ChunkPlace& chunk : file_.event_chunks()) {
        const auto [place, is_new] = index.try_emplace({chunk.header.process, chunk.header.thread}, streams_.size());
        if (is_new) {
            streams_.emplace_back();
        }
        streams_[place->second].stream.add(chunk);
    }
    damage_ = file_.damage();
    rewind();
}

const StackTable& TraceReader::read_stacks()
{
    table_ = std::make_unique<StackTable>(StackTable::read(file_));
    for (Queue& queue : streams_) {
        queue.stream.take_stacks(*table_);
    }
    rewind();
    return *table_;
}

const ProgramNotes& TraceReader::read_notes()
{
    notes_ = std::make_unique<ProgramNotes>(ProgramNotes::read(file_));
    for (Queue& queue : streams_) {
        queue.stream.take_notes(*notes_);
    }
    rewind();
    return *notes_;
}

base::Expected<TraceReader> TraceReader::open(const std::string& path)
{
    return open(MEMSWEEP_TRY(open_for_reading(path)), path);
}

base::Expected<TraceReader> TraceReader::open(ReadAt read, const std::string& name)
{
    return TraceReader{MEMSWEEP_TRY(TraceFile::open(std::move(read), name)), name};
}

bool TraceReader::may_hold(std::uint64_t things)
{
    return things <= most_held_by_trace(file_.stored_bytes()) || refuse(things, "blocks, threads and texts");
}

bool TraceReader::may_hold_events(std::uint64_t events)
{
    return events <= most_events_held(file_.stored_bytes()) || refuse(events, "events");
}

bool TraceReader::refuse(std::uint64_t number, std::string_view what)
{
    outcome_ = base::fail(base::ErrorCode::invalid_input,
                          fmt::format("{} of chunks would need room for {} {} and more: no trace that memsweep records "
                                      "does",
                                      base::format_size(file_.stored_bytes()), number, what),
                          name_);
    return false;
}

void TraceReader::read_until(const ExactCut& cut)
{
    for (Queue& queue : streams_) {
        queue.stream.end_at(cut);
    }
    rewind();
}

void TraceReader::read_to_end()
{
    for (Queue& queue : streams_) {
        queue.stream.end_at_last();
    }
    rewind();
}

std::optional<EndMark> TraceReader::end_mark()
{
    return find_end_mark(file_);
}

void TraceReader::rewind()
{
    ready_.clear();
    waiting_.clear();
    last_.reset();
    live_ = {};
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        Queue& queue = streams_[i];
        queue.stream.rewind();
        queue.batch.clear();
        queue.at = 0;
        queue.following.reset();
        push(i);
    }
}

// The events of one thread under one stamp: as far as their order against other threads is known.
void TraceReader::fill(Queue& queue)
{
    queue.batch.clear();
    queue.at = 0;
    if (queue.following) {
        queue.batch.push_back(*queue.following);
        queue.following.reset();
    }
    Event event;
    bool is_ticked = queue.is_following_ticked;
    const auto settle = [&](std::uint64_t next_stamp) {
        queue.until = next_stamp;
        const std::uint64_t begun = queue.batch.empty() ? 0 : queue.batch.front().ticks;
        const std::uint64_t close = queue.batch.size() * (header().ticks_per_second / events_a_second);
        spread(queue.batch, is_ticked ? begun + std::min(next_stamp - begun, close) : next_stamp);
    };
    const auto has_room = [&] {  // a text lies in the payload, which the next chunk replaces
        return queue.batch.empty() || (queue.batch.size() < events_per_stamp && queue.batch.back().text.empty());
    };
    while (has_room() && queue.stream.next(file_, event)) {
        if (!queue.batch.empty() && event.ticks != queue.batch.front().ticks) {
            queue.following = event;
            queue.is_following_ticked = queue.stream.is_ticked();
            settle(event.ticks);
            return;
        }
        is_ticked = queue.batch.empty() ? queue.stream.is_ticked() : is_ticked;
        queue.batch.push_back(event);
    }
    const std::uint64_t begun = queue.batch.empty() ? 0 : queue.batch.front().ticks;
    settle(std::max(begun, queue.stream.latest_ticks()));
}

bool TraceReader::push(std::size_t index)
{
    const Queue& queue = streams_[index];
    if (queue.is_empty() && !queue.following && queue.stream.at_end()) {
        return false;
    }
    ready_.push_back(index);
    std::ranges::push_heap(ready_, later());
    return true;
}

std::size_t TraceReader::pop()
{
    std::ranges::pop_heap(ready_, later());
    const std::size_t index = ready_.back();
    ready_.pop_back();
    return index;
}

// Another thread has yet to allocate what this event frees, or to free where this event allocates.
bool TraceReader::must_wait(const Event& event) const
{
    if (event.kind == EventKind::free) {
        return live_.find(key_of(event, event.address)) == nullptr;
    }
    if (event.kind == EventKind::realloc) {
        const bool moves_in = event.address != event.old_address && event.address != 0;
        return (event.old_address != 0 && live_.find(key_of(event, event.old_address)) == nullptr) ||
               (moves_in && live_.find(key_of(event, event.address)) != nullptr);
    }
    return is_allocation(event.kind) && live_.find(key_of(event, event.address)) != nullptr;
}

void TraceReader::note(const Event& event)
{
    if (event.kind == EventKind::free) {
        live_.remove(key_of(event, event.address));
    } else if (event.kind == EventKind::realloc) {
        live_.remove(key_of(event, event.old_address));
        if (event.address != 0) {
            live_.insert(key_of(event, event.address), {});
        }
    } else if (is_allocation(event.kind)) {
        live_.insert(key_of(event, event.address), {});
        static_cast<void>(may_hold(live_.count()));
    } else if (event.kind == EventKind::exec || event.kind == EventKind::process_exit) {
        live_.remove_process(event.process, [](const BlockKey&, const LiveBlock&) {});
    }
}

void TraceReader::hand_out(std::size_t index, Event& event)
{
    event = streams_[index].front();
    ++streams_[index].at;
    last_ = index;
    note(event);
}

// A realloc is stamped after the call: another thread may have got the old block's address in between, and gone on.
bool TraceReader::take_realloc_of(const Event& wanted, Event& event)
{
    const auto frees = [&](const Event& other) {
        return other.kind == EventKind::realloc && other.old_address == wanted.address &&
               other.old_address != other.address && other.process == wanted.process && other.space == wanted.space;
    };
    for (std::size_t i = 0; i < ready_.size(); ++i) {
        Queue& queue = streams_[ready_[i]];
        if (queue.is_empty()) {
            fill(queue);
        }
        if (!queue.is_empty() && frees(queue.front())) {
            const std::size_t index = ready_[i];
            ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(i));
            std::ranges::make_heap(ready_, later());
            hand_out(index, event);
            return true;
        }
    }
    std::ranges::make_heap(ready_, later());  // filling a queue may have changed when it is due
    return false;
}

// Takes a waiting event whose window the other streams have passed: what it waits for was not recorded.
bool TraceReader::take_overdue(Event& event)
{
    const std::uint64_t now =
        ready_.empty() ? std::numeric_limits<std::uint64_t>::max() : streams_[ready_.front()].due();
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
        const std::size_t index = waiting_[i];
        if (ready_.empty() || streams_[index].until < now) {
            const Event& overdue = streams_[index].front();
            if (overdue.kind != EventKind::free && take_realloc_of(overdue, event)) {
                return true;
            }
            waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
            hand_out(index, event);
            return true;
        }
    }
    return false;
}

void TraceReader::wake()
{
    std::erase_if(waiting_, [this](std::size_t index) { return !must_wait(streams_[index].front()) && push(index); });
}

// Whatever is read again is damaged in the same places.
bool TraceReader::end()
{
    if (!was_read_) {
        damage_ = file_.damage();
        was_read_ = true;
    }
    return false;
}

bool TraceReader::next(Event& event)
{
    if (!outcome_) {
        return false;
    }
    if (streams_.size() == 1) {
        return streams_.front().stream.next(file_, event) || end();
    }
    if (last_) {
        push(*std::exchange(last_, std::nullopt));
        wake();
    }
    for (;;) {
        if (take_overdue(event)) {
            return true;
        }
        if (ready_.empty()) {
            return end();
        }
        const std::size_t index = pop();
        Queue& queue = streams_[index];
        if (queue.is_empty()) {
            fill(queue);
            if (!queue.is_empty()) {
                push(index);
            }
            continue;
        }
        if (must_wait(queue.front())) {
            waiting_.push_back(index);
            continue;
        }
        hand_out(index, event);
        return true;
    }
}

}  // namespace memsweep::trace
