// Times one case of the concatenation sweep in a process of its own, for concat_beside_numpy.py.
//
// Units    prints nanoseconds: the median as the original sweep takes it, the upper middle of the sorted times of the
//          case's repetitions after its warm-up.
// Errors   2: no such case, or it failed; standard error says why.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string_view>
#include <vector>

#include "core/array/concat_call.hpp"
#include "core/array/streaming.hpp"
#include "core/memory/adaptors.hpp"
#include "core/memory/allocator_resources.hpp"

namespace {

using namespace memsweep;
using Nanoseconds = std::chrono::duration<double, std::nano>;

constexpr std::uint64_t numpy_advises_from_bytes = std::uint64_t{4} << 20;

const char* time_calls(const array::ConcatCall& call, lifetime::Heap& heap, std::vector<double>& times)
{
    for (std::size_t number = 0; number < times.size() + model::concat_warmup_calls; ++number) {
        const auto start = std::chrono::steady_clock::now();
        {
            const array::ConcatResult result = call.call(heap);
            if (result.status != array::ConcatStatus::ok) {
                return "the case could not be concatenated";
            }
        }
        const Nanoseconds taken = std::chrono::steady_clock::now() - start;
        if (number >= model::concat_warmup_calls) {
            times[number - model::concat_warmup_calls] = taken.count();
        }
    }
    return nullptr;
}

int fail(std::string_view label, const char* why)
{
    std::cerr << "concat_time: " << label << ": " << why << '\n';
    return 2;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string_view label = argc == 2 ? argv[1] : "";
    const model::ConcatCase* const what = model::find_concat_case(label);
    if (what == nullptr) {
        return fail(label, "no such case");
    }
    const sys::SystemClock clock;
    const std::vector<array::StreamingTrial> trials = array::try_streaming(array::cast_table(), clock);
    array::stream_from(array::streaming_sizes(trials, array::streams_from().front_to_back));
    // After a large block was freed smaller ones come from the heap, and not each in a mapping of its own (mallopt(3),
    // M_MMAP_THRESHOLD): where page tables are shadowed, 1024 inputs of 400 KB take seven times as long in mappings.
    constexpr std::size_t freed_bytes = 16U << 20U;
    void* volatile freed = std::malloc(freed_bytes);
    std::free(freed);
    memory::MallocResource malloc;
    memory::HugePageAdaptor resource{malloc, numpy_advises_from_bytes};
    lifetime::Heap heap{resource, {}};
    const auto built = array::ConcatCall::build(heap, *what);
    if (built.status != memory::AllocStatus::ok) {
        return fail(label, memory::describe(built.status));
    }
    std::vector<double> times(what->repetitions);
    if (const char* const error = time_calls(built.call, heap, times)) {
        return fail(label, error);
    }
    std::ranges::sort(times);
    std::cout << times[times.size() / 2] << '\n';
    return 0;
}
