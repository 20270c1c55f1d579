#include "core/sys/smaps_rollup.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "core/sys/proc_text.hpp"

namespace memsweep::sys {

base::Expected<MemorySnapshot> parse_smaps_rollup(std::string_view text) noexcept
{
    MemorySnapshot snapshot;
    std::uint64_t shared_hugetlb_bytes{};
    const std::array<std::pair<std::string_view, std::uint64_t*>, 4> fields{
        {{"Rss", &snapshot.rss_bytes},
         {"AnonHugePages", &snapshot.anon_huge_bytes},
         {"Private_Hugetlb", &snapshot.hugetlb_bytes},
         {"Shared_Hugetlb", &shared_hugetlb_bytes}}};
    for (const auto& [name, target] : fields) {
        const auto bytes = find_kib_field(text, name);
        if (!bytes) {
            return base::fail(base::ErrorCode::invalid_input, "the kernel does not show this field",
                              std::string{"/proc/self/smaps_rollup: "}.append(name));
        }
        *target = *bytes;
    }
    snapshot.hugetlb_bytes += shared_hugetlb_bytes;
    return snapshot;
}

}  // namespace memsweep::sys
