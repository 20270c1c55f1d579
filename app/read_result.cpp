#include "app/read_result.hpp"

#include "core/sys/read_file.hpp"
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

}  // namespace memsweep::app
