#include "core/device/cuda/nvml.hpp"

#include <array>
#include <cctype>

#include <dlfcn.h>

namespace memsweep::device::cuda {
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
using LinkEnd = int (*)(void* device, unsigned link, PciInfo* other);

constexpr unsigned most_links = 18;

// NVML writes eight digits of the domain, CUDA four.
std::string same_spelling(std::string address)
{
    const auto colon = address.find(':');
    if (colon != std::string::npos && colon > 4) {
        address.erase(0, colon - 4);
    }
    for (char& letter : address) {
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return address;
}

}  // namespace

template <typename Function>
Function Nvml::find(const char* name) const
{
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library_, name));
}

Nvml::Nvml() : library_{::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)}
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
                        .largest_generation = ask("nvmlDeviceGetMaxPcieLinkGeneration"),
                        .largest_lanes = ask("nvmlDeviceGetMaxPcieLinkWidth")};
    return link.generation != 0 && link.lanes != 0 ? std::optional{link} : std::nullopt;
}

std::vector<std::string> Nvml::nvlinks(const std::string& bus_address) const
{
    std::vector<std::string> ends;
    void* const device = handle_of(bus_address);
    const auto state = find<LinkState>("nvmlDeviceGetNvLinkState");
    const auto other_end = find<LinkEnd>("nvmlDeviceGetNvLinkRemotePciInfo_v2");
    if (device == nullptr || state == nullptr) {
        return ends;
    }
    for (unsigned link = 0; link < most_links; ++link) {
        unsigned is_active = 0;
        if (state(device, link, &is_active) != 0 || is_active == 0) {
            continue;
        }
        PciInfo other{};
        const bool known = other_end != nullptr && other_end(device, link, &other) == 0;
        other.address.back() = '\0';
        ends.push_back(known ? same_spelling(other.address.data()) : std::string{});
    }
    return ends;
}

}  // namespace memsweep::device::cuda
