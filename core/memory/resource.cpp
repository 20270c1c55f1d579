#include "core/memory/resource.hpp"

namespace memsweep::memory {

const char* describe(AllocStatus status) noexcept
{
    switch (status) {
    case AllocStatus::ok:
        return "ok";
    case AllocStatus::out_of_memory:
        return "the system has no memory left for it";
    case AllocStatus::over_limit:
        return "it would exceed the memory limit of the case";
    case AllocStatus::injected:
        return "refused on purpose by the failing adaptor";
    case AllocStatus::bad_request:
        return "no resource can serve such a size, alignment or operand";
    case AllocStatus::no_huge_pages_2m:
        return "not enough huge pages of 2 MiB are reserved and free; as root: "
               "echo N > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
    case AllocStatus::no_huge_pages_1g:
        return "not enough huge pages of 1 GiB are reserved and free; as root: "
               "echo N > /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages";
    case AllocStatus::lock_limit:
        return "it would exceed the limit of locked memory (RLIMIT_MEMLOCK); ulimit -l unlimited raises it";
    case AllocStatus::no_such_node:
        return "this machine, or the control group (cpuset.mems), has no such NUMA node with memory; numactl "
               "--hardware "
               "lists what there is";
    case AllocStatus::shm_full:
        return "/dev/shm is full; as root: mount -o remount,size=SIZE /dev/shm";
    case AllocStatus::disk_full:
        return "the folder of memory.path is full or cannot be written; df PATH shows its room";
    case AllocStatus::no_device_memory:
        return "the device's runtime has no memory of this kind; memsweep probe device says why";
    case AllocStatus::no_process:
        return "no further thread or process can be started, or it was killed: ulimit -u, or pids.max and memory.max "
               "of the control group, set the limit";
    }
    return "unknown status";
}

}  // namespace memsweep::memory
