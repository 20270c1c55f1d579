// NVIDIA's management library for one invented device, in a library of its name: what our declarations of it read.
#include <cstring>

extern "C" {

int nvmlInit_v2()
{
    return 0;
}

int nvmlShutdown()
{
    return 0;
}

int nvmlSystemGetDriverVersion(char* text, unsigned bytes)
{
    std::strncpy(text, "580.105.08", bytes);
    return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device)
{
    static int only;
    *device = &only;
    return std::strcmp(address, "0000:1b:00.0") == 0 ? 0 : 6;  // NVML_ERROR_NOT_FOUND
}

int nvmlDeviceGetClockInfo(void* /*device*/, unsigned clock, unsigned* megahertz)
{
    *megahertz = clock == 1 ? 1755 : 2619;
    return 0;
}

int nvmlDeviceGetMaxClockInfo(void* /*device*/, unsigned clock, unsigned* megahertz)
{
    *megahertz = clock == 1 ? 1980 : 2619;
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/, unsigned long long* bits)
{
    *bits = 0x24;
    return 0;
}

int nvmlDeviceGetMemoryAffinity(void* /*device*/, unsigned words, unsigned long* nodes, unsigned scope)
{
    if (words < 2 || scope != 0) {
        return 2;  // NVML_ERROR_INVALID_ARGUMENT
    }
    nodes[1] = 2;
    return 0;
}

}  // extern "C"
