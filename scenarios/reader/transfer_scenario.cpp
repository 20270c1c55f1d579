#include "scenarios/reader/transfer_scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/quantity.hpp"

namespace memsweep::scenarios {

using nlohmann::ordered_json;

std::string transfer_scenario(const std::vector<model::TransferSpec>& transfers, std::uint64_t bytes,
                              std::uint32_t repetitions)
{
    ordered_json list = ordered_json::array();
    std::vector<std::string> words;
    for (const model::TransferSpec& one : transfers) {
        words.push_back(model::to_text(one));
        list.push_back({{"src", model::to_text(one.src)},
                        {"exe", model::to_text(one.exe)},
                        {"dst", model::to_text(one.dst)},
                        {"bytes", base::exact_size(bytes)}});
    }
    const ordered_json step{{"op", "transfer"}, {"transfers", std::move(list)}, {"times", 5}};
    const ordered_json scenario{
        {"format", "memsweep-scenario"},
        {"version", 1},
        {"name", "probe_transfer"},
        {"description", fmt::format("At once: {}.", fmt::join(words, "; "))},
        {"repetitions", repetitions},
        {"steps", ordered_json::array({step})},
        {"assert", ordered_json::array({ordered_json{{"expr", "transfer_wrong_bytes.max == 0B"}}})}};
    return scenario.dump(2) + "\n";
}

}  // namespace memsweep::scenarios
