#include "core/trace/event_selection.hpp"

namespace memsweep::trace {

bool SelectedEvents::next(Event& event)
{
    while (read_ < selection_.most_events && reader_.next(event)) {
        ++read_;
        const bool is_of_process = !selection_.process || event.process == *selection_.process;
        if (is_of_process && (selection_.left_out.empty() || takes(event))) {
            return true;
        }
    }
    return false;
}

void SelectedEvents::rewind()
{
    reader_.rewind();
    read_ = 0;
    kept_ = {};
    gone_ = {};
}

bool SelectedEvents::takes(Event& event)
{
    const BlockKey key = key_of(event, event.address);
    switch (event.kind) {
    case EventKind::malloc:
    case EventKind::calloc:
    case EventKind::aligned_alloc:
        return takes_birth(event);
    case EventKind::realloc:
        return takes_realloc(event);
    case EventKind::free:
        kept_.remove(key);
        return !gone_.remove(key);
    case EventKind::free_requested:
        return gone_.find(key) == nullptr;
    case EventKind::copy:
    case EventKind::move:
        return gone_.find(key) == nullptr &&
               gone_.find({event.old_address, event.process, event.source_space}) == nullptr;
    case EventKind::exec:
    case EventKind::process_exit:
        for (LiveBlocks* const blocks : {&kept_, &gone_}) {
            blocks->remove_process(event.process, [](const BlockKey&, const LiveBlock&) {});
        }
        return true;
    default:
        return true;
    }
}

// Of a block that is there already the free was not recorded.
bool SelectedEvents::takes_birth(Event& event)
{
    const BlockKey key = key_of(event, event.address);
    gone_.remove(key);
    if (!is_left_out(event)) {
        kept_.insert(key, {event.size, 0});
        return true;
    }
    gone_.insert(key, {event.size, 0});
    if (!kept_.remove(key)) {
        return false;
    }
    event.kind = EventKind::free;
    event.size = 0;
    event.alignment = 0;
    return true;
}

bool SelectedEvents::takes_realloc(Event& event)
{
    const BlockKey old = key_of(event, event.old_address);
    const BlockKey key = key_of(event, event.address);
    const bool frees = event.address == 0;
    if (event.old_address == 0) {
        return takes_birth(event);
    }
    if (gone_.remove(old)) {
        if (!frees) {
            gone_.insert(key, {event.size, 0});
        }
        return false;
    }
    const std::optional<LiveBlock> was = kept_.remove(old);
    if (frees) {
        return true;
    }
    if (is_left_out(event)) {
        if (!was) {
            gone_.insert(key, {event.size, 0});
            return false;
        }
        event.size = was->size;
    }
    kept_.insert(key, {event.size, 0});
    return true;
}

}  // namespace memsweep::trace
