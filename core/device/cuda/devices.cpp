#include "core/device/cuda/devices.hpp"

#include <array>
#include <cctype>
#include <fstream>

#include <fmt/format.h>

namespace memsweep::device::cuda {
namespace {

std::int64_t attribute(cudaDeviceAttr what, int device)
{
    int value = 0;
    return cudaDeviceGetAttribute(&value, what, device) == cudaSuccess ? value : 0;
}

std::string version_text(int version)
{
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string bus_address(int device)
{
    std::array<char, 32> text{};
    if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device) != cudaSuccess) {
        return {};
    }
    std::string address{text.data()};
    for (char& letter : address) {
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return address;
}

std::optional<std::uint32_t> node_of(const std::string& address)
{
    std::ifstream file{"/sys/bus/pci/devices/" + address + "/numa_node"};
    int node = -1;  // which is also what the kernel says when it does not know
    return file >> node && node >= 0 ? std::optional{static_cast<std::uint32_t>(node)} : std::nullopt;
}

FoundDevice describe(int device, const cudaDeviceProp& properties, const Nvml& nvml)
{
    FoundDevice found;
    DeviceFacts& facts = found.facts;
    int driver = 0;
    int runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    facts.name = properties.name;
    facts.vendor = "NVIDIA";
    facts.driver = fmt::format("CUDA {}, built with {}", version_text(driver), version_text(runtime));
    facts.architecture = fmt::format("sm_{}{}", properties.major, properties.minor);
    facts.bus_address = bus_address(device);
    facts.device_class = DeviceClass::gpu;
    facts.memory_bytes = properties.totalGlobalMem;
    facts.largest_block_bytes = properties.totalGlobalMem;
    facts.compute_units = static_cast<std::uint32_t>(properties.multiProcessorCount);
    facts.shares_host_memory = attribute(cudaDevAttrIntegrated, device) != 0;
    facts.copy_engines = static_cast<std::uint32_t>(attribute(cudaDevAttrAsyncEngineCount, device));
    facts.numa_node = node_of(facts.bus_address);
    // Attributes, not members of cudaDeviceProp: CUDA 13 took the clocks out of it.
    const std::int64_t memory_khz = attribute(cudaDevAttrMemoryClockRate, device);
    const std::int64_t bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, device);
    if (memory_khz > 0 && bus_bits > 0) {  // two transfers a clock
        facts.memory_bytes_per_s = 2e3 * static_cast<double>(memory_khz) * static_cast<double>(bus_bits) / 8;
    }
    if (const std::int64_t khz = attribute(cudaDevAttrClockRate, device); khz > 0) {
        facts.clock_hz = static_cast<std::uint64_t>(khz) * 1000;
    }
    found.nvlinks = nvml.nvlinks(facts.bus_address);
    if (nvml.is_there()) {
        facts.nvlinks = static_cast<std::uint32_t>(found.nvlinks.size());
    }
    // Managed memory that faults in on both sides; without that the host may not touch it while a kernel runs.
    found.has_managed = attribute(cudaDevAttrConcurrentManagedAccess, device) != 0;
    found.has_pools = attribute(cudaDevAttrMemoryPoolsSupported, device) != 0;
    found.can_register = attribute(cudaDevAttrHostRegisterSupported, device) != 0;
    return found;
}

std::string absence(cudaError_t code)
{
    switch (code) {
    case cudaErrorInsufficientDriver: {
        int driver = 0;
        const bool none = cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0;
        return none ? "no driver is installed"
                    : fmt::format("the driver is for CUDA {}, too old for this memsweep", version_text(driver));
    }
    case cudaErrorNoDevice:
        return "the driver sees no device";
    case cudaErrorStubLibrary:
        return "no driver, only its stub (libcuda.so.1) is installed";
    default:
        return failure("cudaGetDeviceCount", code).message;
    }
}

}  // namespace

base::Error failure(const char* call, cudaError_t code)
{
    static_cast<void>(cudaGetLastError());  // otherwise the next call would tell of it again
    return {.code = code == cudaErrorMemoryAllocation ? base::ErrorCode::budget : base::ErrorCode::device,
            .message = fmt::format("{}: {} ({})", call, cudaGetErrorName(code), cudaGetErrorString(code))};
}

base::Expected<int> count_devices()
{
    int count = 0;  // left as it is where there is no driver
    const cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0) {
        return base::fail(base::ErrorCode::not_supported, absence(code == cudaSuccess ? cudaErrorNoDevice : code));
    }
    return count;
}

base::Expected<std::vector<FoundDevice>> describe_devices(int count, const Nvml& nvml)
{
    std::vector<FoundDevice> all;
    for (int device = 0; device < count; ++device) {
        cudaDeviceProp properties{};
        if (const cudaError_t asked = cudaGetDeviceProperties(&properties, device); asked != cudaSuccess) {
            return base::fail(failure("cudaGetDeviceProperties", asked));
        }
        all.push_back(describe(device, properties, nvml));
    }
    return all;
}

}  // namespace memsweep::device::cuda
