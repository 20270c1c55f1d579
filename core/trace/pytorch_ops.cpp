#include "core/trace/pytorch_ops.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/base/checked.hpp"
#include "core/trace/live_blocks.hpp"

namespace memsweep::trace {
namespace {

constexpr std::uint64_t most_request = 1ULL << 56U;

class PyTorchOpsReader {
  public:
    explicit PyTorchOpsReader(std::uint32_t device) : device_{device} {}

    void add(const Event& event)
    {
        if (event.kind == EventKind::define_space) {
            if (event.space_kind == SpaceKind::device && event.other == device_) {
                spaces_.insert(event.space);
            }
            return;
        }
        ++number_;
        if (!spaces_.contains(event.space)) {
            return;
        }
        if (event.kind != EventKind::unmap) {
            judge_release(event);
        }
        if (is_allocation(event.kind)) {
            allocate(event);
        } else if (event.kind == EventKind::free || event.kind == EventKind::free_requested) {
            free(event);
        } else if (event.kind == EventKind::failed_alloc && event.size <= most_request) {
            put(event, PyTorchOps::Action::refuse, 0);
        } else if (event.kind == EventKind::map) {
            mapped_ = base::saturating_add(mapped_, event.size);
            mapped_peak_ = std::max(mapped_peak_, mapped_);
            result_.segments.push_back({event.address, event.size});
        } else if (event.kind == EventKind::unmap) {
            if (!release_) {
                release_ = Release{result_.ops.size(), mapped_, number_};
            }
            mapped_ -= std::min(mapped_, event.size);
        }
    }

    // As bounds.hpp counts them; what a simulation keeps of a live block is in them.
    [[nodiscard]] std::uint64_t events() const { return 2 * number_; }
    [[nodiscard]] std::uint64_t held() const { return 3 * live_.count() + spaces_.size(); }

    PyTorchOps take()
    {
        for (const Release& release : releases_) {
            (release.need <= mapped_peak_ ? result_.emptied : result_.own_releases) += 1;
        }
        if (result_.emptied != 0) {
            insert_releases();
        }
        return std::move(result_);
    }

  private:
    // Segments given back in a row.
    struct Release {
        std::size_t at{};      // before this operation
        std::uint64_t need{};  // what would have been taken without it
        std::uint64_t event{};
    };

    void put(const Event& event, PyTorchOps::Action action, std::uint32_t block)
    {
        result_.ops.push_back({event.size, event.stream, number_, block, action});
    }

    void allocate(const Event& event)
    {
        if (event.size > most_request) {
            return;
        }
        const std::uint32_t block = numbers_.take();
        if (const auto replaced = live_.insert(key_of(event, event.address), {event.size, block})) {
            put(event, PyTorchOps::Action::free, replaced->tag);  // its free was not recorded
            numbers_.give_back(replaced->tag);
        }
        put(event, PyTorchOps::Action::allocate, block);
    }

    void free(const Event& event)
    {
        const BlockKey key = key_of(event, event.address);
        if (event.kind == EventKind::free_requested) {
            if (const LiveBlock* const block = live_.find(key)) {
                put(event, PyTorchOps::Action::request_free, block->tag);
            }
        } else if (const auto block = live_.remove(key)) {
            put(event, PyTorchOps::Action::free, block->tag);
            numbers_.give_back(block->tag);
        }
    }

    // A request for which the allocator gives back what it has cached is granted a segment right after, or refused.
    void judge_release(const Event& next)
    {
        if (!release_) {
            return;
        }
        if (next.kind == EventKind::failed_alloc) {
            ++result_.own_releases;
        } else {
            release_->need = next.kind == EventKind::map ? base::saturating_add(release_->need, next.size) : 0;
            releases_.push_back(*release_);
        }
        release_.reset();
    }

    void insert_releases()
    {
        std::vector<PyTorchOps::Op> ops;
        ops.reserve(result_.ops.size() + result_.emptied);
        auto release = releases_.begin();
        for (std::size_t i = 0; i < result_.ops.size(); ++i) {
            for (; release != releases_.end() && release->at <= i; ++release) {
                if (release->need <= mapped_peak_) {
                    ops.push_back({.event = release->event, .action = PyTorchOps::Action::empty_cache});
                }
            }
            ops.push_back(result_.ops[i]);
        }
        result_.ops = std::move(ops);
    }

    std::uint32_t device_;
    std::set<std::uint32_t> spaces_;
    std::uint64_t number_{};
    PyTorchOps result_;
    LiveBlocks live_;
    RecycledNumbers numbers_;
    std::uint64_t mapped_{};
    std::uint64_t mapped_peak_{};
    std::optional<Release> release_;
    std::vector<Release> releases_;
};

}  // namespace

PyTorchOps pytorch_ops(TraceReader& reader, std::uint32_t device)
{
    PyTorchOpsReader ops{device};
    Event event;
    while (reader.next(event) && reader.may_hold_events(ops.events()) && reader.may_hold(ops.held())) {
        ops.add(event);
    }
    return ops.take();
}

}  // namespace memsweep::trace
