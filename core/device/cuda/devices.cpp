#include "core/device/cuda/devices.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <utility>

#include <dlfcn.h>

#include <fmt/format.h>

namespace memsweep::device::MEMSWEEP_API {
namespace {

// nvmlReturn_t, where 0 is success; nvmlDevice_t is a pointer.
using Plain = int (*)();
using HandleByAddress = int (*)(const char* bus_address, void** device);
using Number = int (*)(void* device, unsigned* value);
using LinkState = int (*)(void* device, unsigned link, unsigned* is_active);
struct PciInfo {  // nvmlPciInfo_t, version 3
    std::array<char, 16> legacy_address;
    std::array<unsigned, 5> numbers;  // domain, bus, device, two ids
    std::array<char, 32> address;
};
using NodeSet = int (*)(void* device, unsigned words, unsigned long* nodes, unsigned scope);
using Text = int (*)(char* text, unsigned bytes);
using ClockOf = int (*)(void* device, unsigned clock, unsigned* megahertz);
using Reasons = int (*)(void* device, unsigned long long* bits);
using TextOf = int (*)(void* device, char* text, unsigned bytes);
using Modes = int (*)(void* device, unsigned* now, unsigned* next);
using LinkEnd = int (*)(void* device, unsigned link, PciInfo* other);

constexpr unsigned max_links = 18;

// The bits of nvmlClocksEventReasons. That a device is idle, or runs at the clocks somebody set, is among them too.
constexpr std::array<const char*, 9> reason_words{"idle",         "set_clocks",  "power_cap",
                                                  "slowdown",     "sync_boost",  "hot_software",
                                                  "hot_hardware", "power_brake", "display_clock"};
constexpr std::uint64_t throttling = 0x8 | 0x20 | 0x40 | 0x80;  // slowdown, hot_software, hot_hardware, power_brake

std::string words_of(std::uint64_t reasons)
{
    std::string text;
    for (std::size_t bit = 0; bit < reason_words.size(); ++bit) {
        if ((reasons >> bit & 1U) != 0) {
            text += fmt::format("{}{}", text.empty() ? "" : ", ", reason_words.at(bit));
        }
    }
    return text;
}

std::string in_small_letters(std::string address)
{
    for (char& letter : address) {
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return address;
}

// NVML writes eight digits of the domain, CUDA four.
std::string same_spelling(std::string address)
{
    const auto colon = address.find(':');
    if (colon != std::string::npos && colon > 4) {
        address.erase(0, colon - 4);
    }
    return in_small_letters(std::move(address));
}

std::int64_t attribute(cudaDeviceAttr what, int device)
{
    int value = 0;
    const cudaError_t code = cudaDeviceGetAttribute(&value, what, device);
    forget_failure(code);
    return code == cudaSuccess ? value : 0;
}

std::string version_text(int version)
{
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string bus_address(int device)
{
    std::array<char, 32> text{};
    const cudaError_t code = cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device);
    forget_failure(code);
    if (code != cudaSuccess) {
        return {};
    }
    return in_small_letters(text.data());
}

std::optional<std::uint32_t> node_of(const std::string& address)
{
    std::ifstream file{"/sys/bus/pci/devices/" + address + "/numa_node"};
    int node = -1;  // which is also what the kernel says when it does not know
    return file >> node && node >= 0 ? std::optional{static_cast<std::uint32_t>(node)} : std::nullopt;
}

// Variables that change what the driver does with streams and devices, and so what is measured.
std::string environment()
{
    std::string text;
    for (const char* const name : {launch_blocking, "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_VISIBLE_DEVICES",
                                   "CUDA_DEVICE_ORDER", "CUDA_MODULE_LOADING"}) {
        if (const char* const value = std::getenv(name); value != nullptr) {
            text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
        }
    }
    return text;
}

#ifndef MEMSWEEP_HIP
// "MIG-6d656d73-7765-6570-0000-000000000000", as nvidia-smi -L has it.
std::string instance_uuid(const cudaUUID_t& uuid)
{
    std::string text = "MIG-";
    for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
        const bool begins_a_part = i == 4 || i == 6 || i == 8 || i == 10;
        text += fmt::format("{}{:02x}", begins_a_part ? "-" : "", static_cast<unsigned char>(uuid.bytes[i]));
    }
    return text;
}
#endif

FoundDevice describe(int device, const cudaDeviceProp& properties, const Nvml& nvml)
{
    FoundDevice found;
    DeviceFacts& facts = found.facts;
    int driver = 0;
    int runtime = 0;
    forget_failure(cudaDriverGetVersion(&driver));
    forget_failure(cudaRuntimeGetVersion(&runtime));
    facts.name = properties.name;
    facts.driver = fmt::format("{} {}, built with {}", api_words, version_text(driver), version_text(runtime));
    facts.driver_version = nvml.driver_version();
    facts.runtime_version = static_cast<std::uint32_t>(std::max(runtime, 0));
    facts.architecture = architecture_of(properties);
    facts.bus_address = bus_address(device);
    facts.device_class = DeviceClass::gpu;
    facts.environment = environment();
    facts.memory_bytes = properties.totalGlobalMem;
    facts.largest_block_bytes = properties.totalGlobalMem;
    facts.compute_units = static_cast<std::uint32_t>(properties.multiProcessorCount);
    facts.reaches_ordinary = attribute(cudaDevAttrPageableMemoryAccess, device) != 0;
    facts.shares_host_memory = attribute(cudaDevAttrIntegrated, device) != 0;
    facts.copy_engines = static_cast<std::uint32_t>(attribute(cudaDevAttrAsyncEngineCount, device));
    facts.numa_node = node_of(facts.bus_address);
    if (!facts.numa_node) {
        facts.numa_node = nvml.nearest_node(facts.bus_address);
    }
    // Attributes, not members of cudaDeviceProp: CUDA 13 took the clocks out of it.
    const std::int64_t memory_khz = attribute(cudaDevAttrMemoryClockRate, device);
    const std::int64_t bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, device);
    if (memory_khz > 0 && bus_bits > 0) {  // two transfers a clock
        facts.memory_bytes_per_s = 2e3 * static_cast<double>(memory_khz) * static_cast<double>(bus_bits) / 8;
    }
    if (const std::int64_t cache = attribute(cudaDevAttrL2CacheSize, device); cache > 0) {
        facts.cache_bytes = static_cast<std::uint64_t>(cache);
    }
    nvml.identify(facts);
#ifndef MEMSWEEP_HIP
    if (facts.is_partitioned.value_or(false)) {  // NVML was asked for what is on the bus, and that is the card
        facts.part_of = std::exchange(facts.uuid, instance_uuid(properties.uuid));
        facts.memory_bytes_per_s.reset();  // an instance has a share of it, and nobody says which
    }
#endif
    found.nvlinks = nvml.nvlinks(facts.bus_address);
    if (nvml.is_there()) {
        facts.nvlinks = static_cast<std::uint32_t>(found.nvlinks.size());
    }
    // Managed memory that faults in on both sides; without that the host may not touch it while a kernel runs.
    found.has_managed = attribute(cudaDevAttrConcurrentManagedAccess, device) != 0;
    found.has_pools = attribute(cudaDevAttrMemoryPoolsSupported, device) != 0;
    found.can_register = attribute(cudaDevAttrHostRegisterSupported, device) != 0;
    found.has_priorities = attribute(cudaDevAttrStreamPrioritiesSupported, device) != 0;
    return found;
}

// The least driver that the runtime library takes which this memsweep is built with, and the library that an older
// driver takes.
//
// Sources  CUDA Toolkit release notes: minor versions of one major version take the same drivers.
std::string what_would_do(int driver)
{
    constexpr int cuda_12 = 12000;
    constexpr int cuda_13 = 13000;
    int runtime = 0;
    forget_failure(cudaRuntimeGetVersion(&runtime));
    if (runtime < cuda_12) {
        return {};
    }
    return fmt::format(", which is built with CUDA {} and needs a driver of {} or newer{}", version_text(runtime),
                       runtime >= cuda_13 ? 580 : 525,
                       driver >= cuda_12 ? "; one that is built with a toolkit of CUDA 12 takes this driver" : "");
}

std::string absence(cudaError_t code)
{
    switch (code) {
    case cudaErrorInsufficientDriver: {
        int driver = 0;
        forget_failure(cudaDriverGetVersion(&driver));
        const bool none = driver == 0;
        return none ? "no driver is installed"
                    : fmt::format("the driver is for {} {}, too old for this memsweep{}", api_words,
                                  version_text(driver), what_would_do(driver));
    }
    case cudaErrorNoDevice:
        return "the driver sees no device";
#ifndef MEMSWEEP_HIP
    case cudaErrorStubLibrary:
        return "no driver, only its stub (libcuda.so.1) is installed";
#endif
    default:
        return failure("cudaGetDeviceCount", code).message;
    }
}

}  // namespace

template <typename Function>
Function Nvml::find(const char* name) const
{
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library_, name));
}

Nvml::Nvml() : library_{management_library == nullptr ? nullptr : ::dlopen(management_library, RTLD_NOW | RTLD_LOCAL)}
{
    const auto begin = find<Plain>("nvmlInit_v2");
    if (library_ != nullptr && (begin == nullptr || begin() != 0)) {
        ::dlclose(library_);
        library_ = nullptr;
    }
}

Nvml::~Nvml()
{
    if (const auto end = find<Plain>("nvmlShutdown"); end != nullptr) {
        end();
    }
    if (library_ != nullptr) {
        ::dlclose(library_);
    }
}

void* Nvml::handle_of(const std::string& bus_address) const
{
    const auto look_up = find<HandleByAddress>("nvmlDeviceGetHandleByPciBusId_v2");
    void* device = nullptr;
    return look_up != nullptr && look_up(bus_address.c_str(), &device) == 0 ? device : nullptr;
}

std::optional<HostLink> Nvml::host_link(const std::string& bus_address) const
{
    void* const device = handle_of(bus_address);
    if (device == nullptr) {
        return std::nullopt;
    }
    const auto ask = [&](const char* name) {
        const auto call = find<Number>(name);
        unsigned value = 0;
        return call != nullptr && call(device, &value) == 0 ? value : 0U;
    };
    const HostLink link{.generation = ask("nvmlDeviceGetCurrPcieLinkGeneration"),
                        .lanes = ask("nvmlDeviceGetCurrPcieLinkWidth"),
                        .max_generation = ask("nvmlDeviceGetMaxPcieLinkGeneration"),
                        .max_lanes = ask("nvmlDeviceGetMaxPcieLinkWidth")};
    return link.generation != 0 && link.lanes != 0 ? std::optional{link} : std::nullopt;
}

std::string Nvml::driver_version() const
{
    std::array<char, 80> text{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
    const auto ask = find<Text>("nvmlSystemGetDriverVersion");
    return ask != nullptr && ask(text.data(), static_cast<unsigned>(text.size())) == 0 ? std::string{text.data()}
                                                                                       : std::string{};
}

std::optional<Clocks> Nvml::clocks(const std::string& bus_address) const
{
    constexpr unsigned of_processors = 1;  // nvmlClockType_t
    constexpr unsigned of_memory = 2;
    void* const device = handle_of(bus_address);
    const auto ask = [&](const char* name, unsigned clock) {
        const auto call = find<ClockOf>(name);
        unsigned megahertz = 0;
        return call != nullptr && call(device, clock, &megahertz) == 0 ? megahertz * 1'000'000ULL : 0ULL;
    };
    if (device == nullptr) {
        return std::nullopt;
    }
    const std::optional<std::uint64_t> reasons = reasons_of(device);
    const Clocks clocks{.processors_hz = ask("nvmlDeviceGetClockInfo", of_processors),
                        .memory_hz = ask("nvmlDeviceGetClockInfo", of_memory),
                        .max_processors_hz = ask("nvmlDeviceGetMaxClockInfo", of_processors),
                        .max_memory_hz = ask("nvmlDeviceGetMaxClockInfo", of_memory),
                        .held_back_by = reasons ? words_of(*reasons) : "unknown",
                        .is_throttled = (reasons.value_or(0) & throttling) != 0};
    return clocks.processors_hz != 0 ? std::optional{clocks} : std::nullopt;
}

std::optional<std::uint64_t> Nvml::reasons_of(void* device) const
{
    auto ask = find<Reasons>("nvmlDeviceGetCurrentClocksEventReasons");
    ask = ask != nullptr ? ask : find<Reasons>("nvmlDeviceGetCurrentClocksThrottleReasons");
    unsigned long long bits = 0;
    return ask != nullptr && ask(device, &bits) == 0 ? std::optional<std::uint64_t>{bits} : std::nullopt;
}

std::optional<std::uint32_t> Nvml::nearest_node(const std::string& bus_address) const
{
    constexpr unsigned scope_node = 0;
    std::array<unsigned long, 16> nodes{};
    void* const device = handle_of(bus_address);
    const auto ask = find<NodeSet>("nvmlDeviceGetMemoryAffinity");
    if (device == nullptr || ask == nullptr ||
        ask(device, static_cast<unsigned>(nodes.size()), nodes.data(), scope_node) != 0) {
        return std::nullopt;
    }
    for (std::uint32_t word = 0; word < nodes.size(); ++word) {
        if (nodes.at(word) != 0) {
            constexpr std::uint32_t word_bits = 64;
            return word * word_bits + static_cast<std::uint32_t>(std::countr_zero(nodes.at(word)));
        }
    }
    return std::nullopt;
}

std::vector<NvLink> Nvml::nvlinks(const std::string& bus_address) const
{
    constexpr unsigned type_switch = 2;  // nvmlIntNvLinkDeviceType_t
    std::vector<NvLink> links;
    void* const device = handle_of(bus_address);
    const auto state = find<LinkState>("nvmlDeviceGetNvLinkState");
    const auto other_end = find<LinkEnd>("nvmlDeviceGetNvLinkRemotePciInfo_v2");
    const auto other_type = find<LinkState>("nvmlDeviceGetNvLinkRemoteDeviceType");
    if (device == nullptr || state == nullptr) {
        return links;
    }
    for (unsigned link = 0; link < max_links; ++link) {
        unsigned is_active = 0;
        if (state(device, link, &is_active) != 0 || is_active == 0) {
            continue;
        }
        PciInfo other{};
        const bool known = other_end != nullptr && other_end(device, link, &other) == 0;
        other.address.back() = '\0';
        unsigned type = 0;
        links.push_back(
            {.other_end = known ? same_spelling(other.address.data()) : std::string{},
             .is_to_switch = other_type != nullptr && other_type(device, link, &type) == 0 && type == type_switch});
    }
    return links;
}

void Nvml::identify(DeviceFacts& facts) const
{
    void* const device = handle_of(facts.bus_address);
    if (device == nullptr) {
        return;
    }
    const auto text = [&](const char* name) {
        std::array<char, 96> said{};  // NVML_DEVICE_UUID_V2_BUFFER_SIZE
        const auto call = find<TextOf>(name);
        return call != nullptr && call(device, said.data(), static_cast<unsigned>(said.size())) == 0
                   ? std::string{said.data()}
                   : std::string{};
    };
    const auto number = [&](const char* name) -> std::optional<unsigned> {
        const auto call = find<Number>(name);
        unsigned value = 0;
        return call != nullptr && call(device, &value) == 0 ? std::optional{value} : std::nullopt;
    };
    const auto mode = [&](const char* name) -> std::optional<bool> {  // as it is now, and after the next start
        const auto call = find<Modes>(name);
        unsigned now = 0;
        unsigned next = 0;
        return call != nullptr && call(device, &now, &next) == 0 ? std::optional{now != 0} : std::nullopt;
    };
    facts.uuid = text("nvmlDeviceGetUUID");
    facts.serial = text("nvmlDeviceGetSerial");
    facts.has_ecc = mode("nvmlDeviceGetEccMode");
    facts.is_partitioned = mode("nvmlDeviceGetMigMode");
    facts.link_replays = number("nvmlDeviceGetPcieReplayCounter");
    if (const auto milliwatts = number("nvmlDeviceGetPowerManagementLimit")) {
        facts.power_limit_w = *milliwatts / 1e3;
    }
}

LinksBetween links_between(const FoundDevice& from, const FoundDevice& to)
{
    const auto straight = std::ranges::count(from.nvlinks, to.facts.bus_address, &NvLink::other_end);
    const auto to_switch = [](const FoundDevice& device) {
        return std::ranges::count(device.nvlinks, true, &NvLink::is_to_switch);
    };
    const auto switched = std::min(to_switch(from), to_switch(to));
    return straight > 0 ? LinksBetween{.count = static_cast<std::uint32_t>(straight)}
                        : LinksBetween{.count = static_cast<std::uint32_t>(switched), .through_switch = switched > 0};
}

base::Error failure(const char* call, cudaError_t code)
{
    static_cast<void>(cudaGetLastError());  // otherwise the next call would report it again
    constexpr std::string_view here = "cuda";
    const std::string named =
        std::string_view{call}.starts_with(here) ? api_name + std::string{call + here.size()} : call;
    return {.code = code == cudaErrorMemoryAllocation ? base::ErrorCode::budget : base::ErrorCode::device,
            .message = fmt::format("{}: {} ({})", named, cudaGetErrorName(code), cudaGetErrorString(code))};
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

}  // namespace memsweep::device::MEMSWEEP_API
