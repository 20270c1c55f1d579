// Answers concat_beside_numpy.py: for each case named on a line of standard input, the median time of a call.
//
// Units    one line per case: the median in nanoseconds, as the original sweep takes it (the upper middle of the sorted
//          times of the case's repetitions, after its warm-up), or "error" and why.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "benchmarks/advised_malloc.hpp"
#include "core/array/concat_call.hpp"

namespace {

using namespace memsweep;
using Nanoseconds = std::chrono::duration<double, std::nano>;

const char* time_calls(const array::ConcatCall& call, lifetime::Heap& heap, std::vector<double>& times)
{
    for (std::size_t number = 0; number < times.size() + model::concat_warmup_calls; ++number) {
        const auto start = std::chrono::steady_clock::now();
        {
            const array::ConcatResult result = call.call(heap);
            if (result.status != array::ConcatStatus::ok) {
                return array::describe(result.status);
            }
        }
        const Nanoseconds taken = std::chrono::steady_clock::now() - start;
        if (number >= model::concat_warmup_calls) {
            times[number - model::concat_warmup_calls] = taken.count();
        }
    }
    return nullptr;
}

void answer(const model::ConcatCase& what)
{
    benchmarks::AdvisedMalloc resource;
    lifetime::Heap heap{resource, {}};
    const auto built = array::ConcatCall::build(heap, what);
    if (built.status != memory::AllocStatus::ok) {
        std::cout << "error " << memory::describe(built.status) << std::endl;
        return;
    }
    std::vector<double> times(what.repetitions);
    if (const char* const error = time_calls(built.call, heap, times)) {
        std::cout << "error " << error << std::endl;
        return;
    }
    std::ranges::sort(times);
    std::cout << times[times.size() / 2] << std::endl;
}

}  // namespace

int main()
{
    for (std::string label; std::getline(std::cin, label);) {
        if (const model::ConcatCase* const what = model::find_concat_case(label)) {
            answer(*what);
        } else {
            std::cout << "error no such case" << std::endl;
        }
    }
}
