#include "core/lifetime/profile_fit.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

#include "core/lifetime/collector.hpp"

namespace memsweep::lifetime {
namespace {

using Iterations = std::vector<std::uint64_t>;

// Arrays not released yet, by how far a collection must look to find them.
class Unreleased {
  public:
    // Returns how many the collection finds.
    std::uint64_t collect(Generation upto)
    {
        std::uint64_t found = 0;
        for (std::size_t age = 0; age <= static_cast<std::size_t>(upto); ++age) {
            found += std::exchange(by_age_.at(age), 0);
        }
        age_of_next_ = std::max(age_of_next_, std::min<std::size_t>(static_cast<std::size_t>(upto) + 1, 2));
        return found;
    }

    // The array at hand has survived the collections that came while it was made.
    void add_next() { ++by_age_.at(std::exchange(age_of_next_, 0)); }

    [[nodiscard]] std::uint64_t count() const { return std::reduce(by_age_.begin(), by_age_.end()); }

  private:
    std::array<std::uint64_t, 3> by_age_{};
    std::size_t age_of_next_{};
};

// A loop under the triggers of a spec, an iteration at a time.
class LoopReplay {
  public:
    LoopReplay(const model::ReleaseSpec& spec, std::uint64_t array_bytes, std::uint64_t most_collections)
        : triggers_{make_triggers(spec)}, cap_{spec.cap}, array_bytes_{array_bytes}, most_collections_{most_collections}
    {
    }

    // False: the cap refused the array, or too many collections came: the loop ends.
    [[nodiscard]] bool step()
    {
        if (cap_.bytes != 0 && unreleased_.count() >= cap_.bytes / array_bytes_) {
            if (!cap_.explicit_gc || array_bytes_ > cap_.bytes) {
                return false;
            }
            collect(Generation::oldest, true);
        }
        const auto asks = [this](Trigger& trigger) { return trigger.before_allocate(array_bytes_, 0); };
        for (Request request = ask(triggers_, asks); request.due != Due::no && collections_.size() < most_collections_;
             request = ask(triggers_, [](Trigger& trigger) { return trigger.again(); })) {
            collect(request.generation, false);
        }
        unreleased_.add_next();
        ++iteration_;
        return collections_.size() < most_collections_;
    }

    [[nodiscard]] const Iterations& collections() const { return collections_; }
    [[nodiscard]] std::uint64_t unreleased() const { return unreleased_.count(); }

  private:
    void collect(Generation generation, bool asked_for)
    {
        const std::uint64_t found = unreleased_.collect(generation);
        for (const auto& trigger : triggers_) {
            for (std::uint64_t i = 0; i < found; ++i) {
                trigger->freed(array_bytes_);
            }
            trigger->collected({0, 0, found * array_bytes_, asked_for});
        }
        collections_.push_back(iteration_);
    }

    std::vector<std::unique_ptr<Trigger>> triggers_;
    model::ReserveCap cap_;
    std::uint64_t array_bytes_;
    std::uint64_t most_collections_;
    std::uint64_t iteration_{};
    Unreleased unreleased_;
    Iterations collections_;
};

// The iteration of the first collection, or `iterations`.
std::uint64_t first_collection(const model::ReleaseSpec& spec, std::uint64_t iterations, std::uint64_t array_bytes)
{
    LoopReplay replay{spec, array_bytes, 1};
    for (std::uint64_t i = 0; i < iterations && replay.step(); ++i) {
    }
    return replay.collections().empty() ? iterations : replay.collections().front();
}

// How many iterations the model's collections lie beside the recorded ones, one after another. One that is missing
// counts as one at the end.
std::uint64_t iterations_beside(const Iterations& model, const Iterations& recorded, std::uint64_t end)
{
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < std::max(model.size(), recorded.size()); ++i) {
        const std::uint64_t at = i < model.size() ? model[i] : end;
        const std::uint64_t wanted = i < recorded.size() ? recorded[i] : end;
        sum += std::max(at, wanted) - std::min(at, wanted);
    }
    return sum;
}

// A number of the model that recordings tell.
struct Constant {
    std::string_view key;
    void (*set)(model::ReleaseSpec&, std::uint64_t);
};

template <auto member, auto field>
constexpr Constant constant(std::string_view key)
{
    using Number = std::remove_reference_t<decltype(std::declval<model::ReleaseSpec>().*member.*field)>;
    return {key,
            [](model::ReleaseSpec& spec, std::uint64_t value) { spec.*member.*field = static_cast<Number>(value); }};
}

using Spec = model::ReleaseSpec;
constexpr Constant managed_bytes = constant<&Spec::managed, &model::ManagedBudget::bytes_per_array>("managed_bytes");
constexpr Constant nursery_used = constant<&Spec::managed, &model::ManagedBudget::used_at_start>("nursery_used");
constexpr Constant promoted = constant<&Spec::managed, &model::ManagedBudget::promoted>("promoted");
constexpr Constant temporary_containers =
    constant<&Spec::cycle, &model::CycleThresholds::temporary_containers>("temporary_containers");
constexpr Constant containers_at_start =
    constant<&Spec::cycle, &model::CycleThresholds::containers_at_start>("containers_at_start");

// The two numbers that are fitted, for both kinds of runtime: what each array adds to a budget, and how much of the
// budget was used at the start. The larger either is, the earlier collections come.
struct Constants {
    Constant each;
    Constant start;
    std::uint64_t most_each;
    std::uint64_t most_start;
};

// The most iterations of a loop without a collection.
std::uint64_t longest_quiet(const ModelLoop& loop)
{
    std::uint64_t longest = 0;
    std::uint64_t since = 0;
    for (const std::uint64_t iteration : loop.recording.collections()) {
        longest = std::max(longest, iteration - since);
        since = iteration;
    }
    return std::max(longest, loop.recording.iterations() - since);
}

Constants constants_of(std::span<const ModelLoop> loops)
{
    const model::ReleaseSpec& spec = loops.front().spec;
    if (spec.cycle.generation0 != 0) {
        return {temporary_containers, containers_at_start, spec.cycle.generation0, spec.cycle.generation0};
    }
    constexpr std::uint64_t pebibyte = 1ULL << 50U;
    const std::uint64_t budget = std::min(std::max(spec.managed.heap.initial, spec.managed.steady), pebibyte);
    std::uint64_t quiet = 1;
    for (const ModelLoop& loop : loops) {
        quiet = std::max(quiet, longest_quiet(loop));
    }
    return {managed_bytes, nursery_used, budget / quiet + 1, budget};
}

struct Range {
    std::uint64_t least{};
    std::uint64_t most{};
};

// Values from 0 to the limit, no two further apart than a twentieth.
std::vector<std::uint64_t> coarse_values(std::uint64_t limit)
{
    std::vector<std::uint64_t> values{0};
    while (values.back() < limit) {
        values.push_back(std::min(limit, values.back() + std::max<std::uint64_t>(1, values.back() / 20)));
    }
    return values;
}

std::vector<std::uint64_t> fine_values(const Range& range)
{
    constexpr std::uint64_t steps = 60;
    const std::uint64_t step = std::max<std::uint64_t>(1, (range.most - range.least) / steps);
    std::vector<std::uint64_t> values;
    for (std::uint64_t value = range.least; value <= range.most; value += step) {
        values.push_back(value);
    }
    return values;
}

struct Candidate {
    std::uint64_t each{};
    std::uint64_t start{};
    Iterations of_recordings;  // how many the model's collections lie beside those of each
    std::uint64_t beside{};    // added up over all recordings
};

class Fit {
  public:
    explicit Fit(std::span<ModelLoop> loops) : loops_{loops}, constants_{constants_of(loops)}
    {
        for (const ModelLoop& loop : loops) {
            recorded_.push_back(loop.recording.collections());
            collections_ += recorded_.back().size();
        }
    }

    [[nodiscard]] ProfileFit run()
    {
        if (collections_ == 0) {
            return {};
        }
        const std::vector<std::uint64_t> values = fine_values(around(try_all(coarse_values(constants_.most_each))));
        std::vector<Candidate> candidates = refined(try_all(values));
        std::optional<FittedKey> survivors;
        if (loops_.front().spec.managed.large != 0) {
            // What each array brings and what survives shift the same collections: one after the other, twice.
            for (int round = 0; round < 2; ++round) {
                take(best_of(candidates));
                survivors = fit_promoted();
                candidates = survivors ? refined(try_all(values)) : candidates;
            }
        }
        const Candidate best = best_of(candidates);
        take(best);
        ProfileFit fit{.keys = {range_of(candidates, constants_.each.key, &Candidate::each),
                                range_of(candidates, constants_.start.key, &Candidate::start)},
                       .iterations_off = static_cast<double>(best.beside) / static_cast<double>(collections_)};
        if (survivors) {
            fit.keys.push_back(*survivors);
        }
        return fit;
    }

  private:
    void set(const Constant& constant, std::uint64_t value)
    {
        for (ModelLoop& loop : loops_) {
            constant.set(loop.spec, value);
        }
    }

    void take(const Candidate& candidate)
    {
        set(constants_.each, candidate.each);
        set(constants_.start, candidate.start);
    }

    // With the constants that the specs have.
    [[nodiscard]] Candidate judged(std::uint64_t each, std::uint64_t start) const
    {
        Candidate candidate{each, start, {}, 0};
        for (std::size_t i = 0; i < loops_.size(); ++i) {
            const std::uint64_t end = loops_[i].recording.iterations();
            const LoopCourse course =
                replay_loop(loops_[i].spec, end, loops_[i].array_bytes, 2 * recorded_[i].size() + 100);
            candidate.of_recordings.push_back(iterations_beside(course.collections, recorded_[i], end));
            candidate.beside += candidate.of_recordings.back();
        }
        return candidate;
    }

    // The least use at the start with which the loop's first collection comes in this iteration or before.
    [[nodiscard]] std::uint64_t least_start(ModelLoop& loop, std::uint64_t iteration) const
    {
        Range range{0, constants_.most_start};
        while (range.least < range.most) {
            const std::uint64_t middle = std::midpoint(range.least, range.most);
            constants_.start.set(loop.spec, middle);
            if (first_collection(loop.spec, iteration + 1, loop.array_bytes) <= iteration) {
                range.most = middle;
            } else {
                range.least = middle + 1;
            }
        }
        return range.least;
    }

    // With so much of each array: uses at the start that give a recording's first collection, the least, the most and
    // one between.
    void try_each(std::uint64_t each, std::vector<Candidate>& candidates)
    {
        set(constants_.each, each);
        std::vector<std::uint64_t> starts;
        for (std::size_t i = 0; i < loops_.size(); ++i) {
            if (!recorded_[i].empty()) {
                const std::uint64_t first = recorded_[i].front();
                const std::uint64_t least = least_start(loops_[i], first);
                const std::uint64_t beyond = first == 0 ? constants_.most_start : least_start(loops_[i], first - 1);
                const std::uint64_t most = std::max(least, beyond == 0 ? 0 : beyond - 1);
                starts.insert(starts.end(), {least, std::midpoint(least, most), most});
            }
        }
        std::ranges::sort(starts);
        starts.erase(std::ranges::unique(starts).begin(), starts.end());
        for (const std::uint64_t start : starts) {
            set(constants_.start, start);
            candidates.push_back(judged(each, start));
        }
    }

    [[nodiscard]] std::vector<Candidate> try_all(const std::vector<std::uint64_t>& values)
    {
        std::vector<Candidate> candidates;
        for (const std::uint64_t each : values) {
            try_each(each, candidates);
        }
        return candidates;
    }

    // Tried more finely while that tells more: a long recording tells bytes apart.
    [[nodiscard]] std::vector<Candidate> refined(std::vector<Candidate> candidates)
    {
        for (Range range{0, constants_.most_each};;) {
            const Range next = around(candidates);
            if (next.most - next.least > (range.most - range.least) / 2 || next.most - next.least < 3) {
                return candidates;
            }
            range = next;
            candidates = try_all(fine_values(range));
        }
    }

    // Where several do equally well, the one in the middle: recordings do not tell them apart.
    [[nodiscard]] static Candidate best_of(const std::vector<Candidate>& candidates)
    {
        const std::uint64_t least = std::ranges::min(candidates, {}, &Candidate::beside).beside;
        std::vector<Candidate> equal;
        std::ranges::copy_if(candidates, std::back_inserter(equal),
                             [&](const Candidate& one) { return one.beside == least; });
        const std::uint64_t middle = std::midpoint(equal.front().each, equal.back().each);
        const auto [first, last] = std::ranges::equal_range(
            equal, std::ranges::lower_bound(equal, middle, {}, &Candidate::each)->each, {}, &Candidate::each);
        return first[(last - first) / 2];
    }

    // Whether a candidate does about as well as the best by every recording: each collection an iteration further off
    // at the most, more where the rules fit the recording badly.
    [[nodiscard]] auto is_good_among(const std::vector<Candidate>& candidates) const
    {
        Iterations most = std::ranges::min(candidates, {}, &Candidate::beside).of_recordings;
        for (std::size_t i = 0; i < most.size(); ++i) {
            most[i] += most[i] / 10 + std::max<std::uint64_t>(recorded_[i].size(), 1);
        }
        return [most = std::move(most)](const Candidate& one) {
            return std::ranges::equal(one.of_recordings, most, std::ranges::less_equal{});
        };
    }

    // From the value before the first good one to that behind the last.
    [[nodiscard]] Range around(const std::vector<Candidate>& candidates) const
    {
        const auto is_good = is_good_among(candidates);
        const std::uint64_t first = std::ranges::find_if(candidates, is_good)->each;
        const std::uint64_t last = std::find_if(candidates.rbegin(), candidates.rend(), is_good)->each;
        Range range{first, last};
        for (const Candidate& one : candidates) {
            range.least = one.each < first ? one.each : range.least;
            range.most = one.each > last && range.most == last ? one.each : range.most;
        }
        return range;
    }

    [[nodiscard]] FittedKey range_of(const std::vector<Candidate>& candidates, std::string_view key,
                                     std::uint64_t Candidate::*value) const
    {
        const std::uint64_t best = best_of(candidates).*value;
        const auto is_good = is_good_among(candidates);
        FittedKey found{key, best, best, best};
        for (const Candidate& one : candidates) {
            if (is_good(one)) {
                found.least = std::min(found.least, one.*value);
                found.most = std::max(found.most, one.*value);
            }
        }
        return found;
    }

    // Empty: recordings do not tell.
    [[nodiscard]] std::optional<FittedKey> fit_promoted()
    {
        const std::uint64_t limit = loops_.front().spec.managed.large;
        const auto try_values = [this](const Range& range) {
            std::vector<Candidate> candidates;
            for (const std::uint64_t value : fine_values(range)) {
                set(promoted, value);
                candidates.push_back(judged(value, 0));
            }
            return candidates;
        };
        std::vector<Candidate> candidates = try_values({0, limit});
        if (std::ranges::all_of(candidates, is_good_among(candidates))) {
            set(promoted, 0);
            return std::nullopt;
        }
        candidates = try_values(around(candidates));
        const FittedKey found = range_of(candidates, promoted.key, &Candidate::each);
        set(promoted, found.value);
        return found;
    }

    std::span<ModelLoop> loops_;
    Constants constants_;
    std::vector<Iterations> recorded_;
    std::uint64_t collections_{};
};

bool is_near(const Figure& figure, double share, std::uint64_t at_least)
{
    const auto apart =
        static_cast<double>(std::max(figure.model, figure.recorded) - std::min(figure.model, figure.recorded));
    return apart <= std::max(share * static_cast<double>(figure.recorded), static_cast<double>(at_least));
}

}  // namespace

LoopCourse replay_loop(const model::ReleaseSpec& spec, std::uint64_t iterations, std::uint64_t array_bytes,
                       std::uint64_t most_collections)
{
    LoopReplay replay{spec, array_bytes, most_collections};
    LoopCourse course;
    for (std::uint64_t i = 0; i < iterations && replay.step(); ++i) {
        course.end = replay.unreleased();
        course.peak = std::max(course.peak, course.end);
    }
    course.collections = replay.collections();
    return course;
}

bool FittedKey::is_sure() const
{
    const std::uint64_t apart = std::max(most - value, value - least);
    return apart <= std::max<std::uint64_t>(2, value / 10);
}

ProfileFit fit_profile(std::span<ModelLoop> loops)
{
    return Fit{loops}.run();
}

void apply(const ProfileFit& fit, model::ReleaseSpec& spec)
{
    constexpr std::array all{managed_bytes, nursery_used, promoted, temporary_containers, containers_at_start};
    for (const FittedKey& key : fit.keys) {
        std::ranges::find(all, key.key, &Constant::key)->set(spec, key.value);
    }
}

Agreement agreement(const ModelLoop& loop)
{
    const Recording& recording = loop.recording;
    const LoopCourse course = replay_loop(loop.spec, recording.iterations(), loop.array_bytes);
    const Iterations collections = recording.collections();
    Agreement found{.recording = recording.name,
                    .peak = {course.peak + loop.own_arrays, recording.peak()},
                    .end = {course.end + loop.own_arrays, recording.rows.back().unreleased},
                    .collections = {course.collections.size(), collections.size()}};
    if (!collections.empty() && !course.collections.empty()) {
        found.first = Figure{course.collections.front(), collections.front()};
    }
    const std::uint64_t slack = loop.spec.cycle.generation0 == 0 ? 5 : 3;  // on their way through a thread's hands
    found.holds =
        is_near(found.peak, 0.1, slack) && is_near(found.end, 0.1, slack) && is_near(found.collections, 0.2, 1);
    return found;
}

}  // namespace memsweep::lifetime
