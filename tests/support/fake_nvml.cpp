// NVIDIA's management library for two invented devices, in a library of its name: what our declarations of it read.
// Both hang on a switch of NVLinks. MEMSWEEP_INVENTED_MIG=1 makes the devices instances of cards, of which this library
// tells; MEMSWEEP_INVENTED_NODES="0 1" says which node of host memory is nearest to each.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace {

constexpr int success = 0;
constexpr int invalid_argument = 2;
constexpr int not_found = 6;
constexpr unsigned links = 6;  // that a device has
constexpr unsigned links_up = 4;
std::array<unsigned, 2> devices{0, 1};  // the number of each

unsigned number_of(void* device)
{
    return *static_cast<unsigned*>(device);
}

struct PciInfo {  // nvmlPciInfo_t, version 3
    char legacy_address[16];
    unsigned numbers[5];  // domain, bus, device, two ids
    char address[32];
};

}  // namespace

extern "C" {

int nvmlInit_v2()
{
    return success;
}

int nvmlShutdown()
{
    return success;
}

int nvmlSystemGetDriverVersion(char* text, unsigned bytes)
{
    std::strncpy(text, "580.105.08", bytes);
    return success;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device)
{
    const bool is_second = std::strcmp(address, "0000:3d:00.0") == 0;
    *device = &devices[is_second ? 1 : 0];
    return is_second || std::strcmp(address, "0000:1b:00.0") == 0 ? success : not_found;
}

int nvmlDeviceGetClockInfo(void* /*device*/, unsigned clock, unsigned* megahertz)
{
    *megahertz = clock == 1 ? 1755 : 2619;
    return success;
}

int nvmlDeviceGetMaxClockInfo(void* /*device*/, unsigned clock, unsigned* megahertz)
{
    *megahertz = clock == 1 ? 1980 : 2619;
    return success;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/, unsigned long long* bits)
{
    *bits = 0x24;
    return success;
}

int nvmlDeviceGetMemoryAffinity(void* device, unsigned words, unsigned long* nodes, unsigned scope)
{
    if (words < 2 || scope != 0) {
        return invalid_argument;
    }
    constexpr unsigned word_bits = 64;
    unsigned node = word_bits + 1;
    const char* const told = std::getenv("MEMSWEEP_INVENTED_NODES");
    std::istringstream list{told == nullptr ? "" : told};
    for (unsigned number = 0; number <= number_of(device); ++number) {
        list >> node;
    }
    nodes[node / word_bits] = 1UL << node % word_bits;
    return success;
}

int nvmlDeviceGetNvLinkState(void* /*device*/, unsigned link, unsigned* is_active)
{
    *is_active = link < links_up ? 1 : 0;
    return link < links ? success : invalid_argument;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* /*device*/, unsigned link, PciInfo* other)
{
    *other = {};
    std::strcpy(other->legacy_address, "0000:A0:00.0");
    std::strcpy(other->address, "00000000:A0:00.0");
    other->numbers[1] = 0xA0;
    return link < links_up ? success : invalid_argument;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void* /*device*/, unsigned link, unsigned* type)
{
    *type = 2;  // a switch
    return link < links_up ? success : invalid_argument;
}

// The invented runtime library tells the same.
int nvmlDeviceGetUUID(void* device, char* text, unsigned bytes)
{
    std::snprintf(text, bytes, "GPU-6d656d73-7765-6570-0000-%012x", number_of(device));
    return success;
}

int nvmlDeviceGetSerial(void* device, char* text, unsigned bytes)
{
    std::snprintf(text, bytes, "165412300000%u", number_of(device));
    return success;
}

int nvmlDeviceGetEccMode(void* /*device*/, unsigned* now, unsigned* after_restart)
{
    *now = *after_restart = 1;
    return success;
}

int nvmlDeviceGetMigMode(void* /*device*/, unsigned* now, unsigned* after_restart)
{
    const char* const told = std::getenv("MEMSWEEP_INVENTED_MIG");
    *now = *after_restart = told != nullptr && *told == '1' ? 1 : 0;
    return success;
}

int nvmlDeviceGetPowerManagementLimit(void* /*device*/, unsigned* milliwatts)
{
    *milliwatts = 700'000;
    return success;
}

int nvmlDeviceGetPcieReplayCounter(void* device, unsigned* replays)
{
    *replays = 3 * number_of(device);
    return success;
}

}  // extern "C"
