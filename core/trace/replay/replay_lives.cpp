#include "core/trace/replay/replay_lives.hpp"

#include <algorithm>

#include "core/trace/live_blocks.hpp"

namespace memsweep::trace {
namespace {

struct Life {
    std::uint64_t last_event{};
    std::uint64_t exit{};  // 0: none is recorded
    std::uint64_t exit_ticks{};
    bool ends_with_process{};
};

// A recording tells of the ends of the threads that are there at its process's end right before that.
constexpr std::uint64_t ticks_before_process = 1;

class Survey {
  public:
    explicit Survey(bool tells_exits) : exits_{tells_exits} {}

    void add(const Event& event)
    {
        ++now_;
        const std::uint32_t number = lives_.follow(event);
        Life& life = at(number);
        if (event.kind == EventKind::thread_exit) {
            exits_ = true;
            if (life.exit == 0) {
                life.exit = now_;
                life.exit_ticks = event.ticks;
            }
        } else if (event.kind == EventKind::exec || event.kind == EventKind::process_exit) {
            lives_.each_of_process(event.process, [&](std::uint32_t one) { end_with_process(all_[one], event.ticks); });
            walk_.end_process(event.process, [](const LiveBlock&) {});
        } else if (is_replayed(event.kind)) {
            life.last_event = now_;
            last_event_ = now_;
            static_cast<void>(walk_.add(event));
        }
    }

    [[nodiscard]] ReplaySurvey result() const
    {
        ReplaySurvey found{.ends = {}, .peak_live_bytes = walk_.peak_live_bytes()};
        for (const Life& life : all_) {
            // What runs while a thread is taken down may come behind its exit.
            const std::uint64_t end = std::max(life.exit, life.last_event);
            const bool tells = life.exit != 0 && !life.ends_with_process;
            const bool has_ended = tells || ((life.exit != 0 || !exits_) && end < last_event_);
            found.ends.push_back(has_ended ? end : ReplaySurvey::never);
        }
        return found;
    }

  private:
    void end_with_process(Life& life, std::uint64_t ticks) const
    {
        if (life.exit == 0 || life.exit_ticks + ticks_before_process >= ticks) {
            life.exit = life.exit == 0 ? now_ : life.exit;
            life.ends_with_process = true;
        }
    }

    Life& at(std::uint32_t number)
    {
        if (number >= all_.size()) {
            all_.resize(std::size_t{number} + 1);
        }
        return all_[number];
    }

    ThreadLives lives_;
    std::vector<Life> all_;
    BlockWalk walk_;
    std::uint64_t now_{};
    std::uint64_t last_event_{};
    bool exits_;
};

}  // namespace

bool is_replayed(EventKind kind) noexcept
{
    switch (kind) {
    case EventKind::malloc:
    case EventKind::calloc:
    case EventKind::aligned_alloc:
    case EventKind::realloc:
    case EventKind::free:
    case EventKind::copy:
    case EventKind::move:
        return true;
    default:
        return false;
    }
}

ReplaySurvey survey(SelectedEvents& events, bool is_cut)
{
    Survey survey{is_cut};
    Event event;
    while (events.next(event)) {
        survey.add(event);
    }
    events.rewind();
    return survey.result();
}

}  // namespace memsweep::trace
