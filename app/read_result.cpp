#include "app/read_result.hpp"

#include "core/sys/read_file.hpp"
#include "reporters/fleet_json.hpp"
#include "reporters/json_reader.hpp"

namespace memsweep::app {
namespace {

constexpr std::uint64_t largest_result_bytes = 1ULL << 30;

}  // namespace

base::Expected<model::RunReport> read_result(const std::string& path)
{
    return sys::read_file(path, largest_result_bytes).and_then([&](const std::string& text) {
        return reporters::read_json(text, path);
    });
}

base::Expected<AnyResult> read_any_result(const std::string& path)
{
    const auto text = sys::read_file(path, largest_result_bytes);
    if (!text) {
        return base::fail(text.error());
    }
    if (reporters::is_fleet(*text)) {
        return reporters::read_fleet(*text, path).map([](model::Fleet fleet) { return AnyResult{std::move(fleet)}; });
    }
    return reporters::read_json(*text, path).map([](model::RunReport report) { return AnyResult{std::move(report)}; });
}

}  // namespace memsweep::app
