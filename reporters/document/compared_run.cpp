#include "reporters/document/compared_run.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace memsweep::reporters {

bool has_failed(const model::RunReport& run)
{
    const model::StatusCounts counts = model::count(run);
    return counts.failed + counts.errors + counts.timeouts + counts.assertions_failed > 0;
}

Document document(const ComparedRun& compared)
{
    Document all = document(compared.run);
    Blocks first = std::exchange(all.blocks, {});
    Blocks then = document(compared.against).blocks;
    const bool failed = has_failed(compared.run);
    if (!failed) {
        std::swap(first, then);
    }
    first.emplace_back(Heading{.text = failed ? "Compared" : "What was measured"});
    std::ranges::move(first, std::back_inserter(all.blocks));
    std::ranges::move(then, std::back_inserter(all.blocks));
    return all;
}

}  // namespace memsweep::reporters
