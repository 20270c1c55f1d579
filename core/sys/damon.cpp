#include "core/sys/damon.hpp"

#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/sys/proc_text.hpp"

namespace memsweep::sys {
namespace {

// sysfs numbers its objects from 0 without gaps. Names are asked for one by one: the count is readable by root only.
std::vector<std::string> numbered(const std::string& directory)
{
    constexpr int most = 1024;
    std::vector<std::string> paths;
    for (int i = 0; i < most; ++i) {
        std::string path = fmt::format("{}/{}", directory, i);
        if (::access(path.c_str(), F_OK) != 0) {
            break;
        }
        paths.push_back(std::move(path));
    }
    return paths;
}

std::string context_text(const std::string& context)
{
    std::vector<std::string> actions;
    for (const std::string& scheme : numbered(context + "/schemes")) {
        actions.push_back(read_word(scheme + "/action"));
    }
    const std::string operations = read_word(context + "/operations");
    return actions.empty() ? operations : fmt::format("{}: {}", operations, fmt::join(actions, ", "));
}

}  // namespace

std::string damon(const std::string& root)
{
    std::vector<std::string> active;
    for (const std::string& kdamond : numbered(root + "sys/kernel/mm/damon/admin/kdamonds")) {
        const auto state = read_kernel_text(kdamond + "/state");
        if (!state) {
            return "unknown";
        }
        if (trimmed(*state) == "on") {
            for (const std::string& context : numbered(kdamond + "/contexts")) {
                active.push_back(context_text(context));
            }
        }
    }
    for (const char* const module : {"reclaim", "lru_sort"}) {
        if (read_word(fmt::format("{}sys/module/damon_{}/parameters/enabled", root, module)) == "Y") {
            active.emplace_back(module);
        }
    }
    return active.empty() ? "off" : fmt::format("{}", fmt::join(active, "; "));
}

}  // namespace memsweep::sys
