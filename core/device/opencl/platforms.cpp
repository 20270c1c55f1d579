#include "core/device/opencl/platforms.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace memsweep::device::opencl {
namespace {

std::string trimmed(std::string text)
{
    text.resize(std::min(text.find('\0'), text.size()));
    const auto first = text.find_first_not_of(' ');
    const auto last = text.find_last_not_of(' ');
    return first == std::string::npos ? std::string{} : text.substr(first, last - first + 1);
}

std::string text_of(const Library& api, cl_device_id device, cl_device_info what)
{
    std::size_t bytes = 0;
    if (api.device_info(device, what, 0, nullptr, &bytes) != CL_SUCCESS) {
        return {};
    }
    std::string text(bytes, '\0');
    return api.device_info(device, what, bytes, text.data(), nullptr) == CL_SUCCESS ? trimmed(std::move(text))
                                                                                    : std::string{};
}

template <typename T>
T value_of(const Library& api, cl_device_id device, cl_device_info what)
{
    T value{};
    return api.device_info(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
}

DeviceClass class_of(cl_device_type type)
{
    if ((type & CL_DEVICE_TYPE_GPU) != 0) {
        return DeviceClass::gpu;
    }
    return (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceClass::cpu : DeviceClass::accelerator;
}

FoundDevice describe(const Library& api, cl_platform_id platform, cl_device_id id)
{
    FoundDevice found{.platform = platform, .id = id};
    DeviceFacts& facts = found.facts;
    facts.name = text_of(api, id, CL_DEVICE_NAME);
    facts.vendor = text_of(api, id, CL_DEVICE_VENDOR);
    facts.driver = fmt::format("{} ({})", text_of(api, id, CL_DRIVER_VERSION), text_of(api, id, CL_DEVICE_VERSION));
    facts.device_class = class_of(value_of<cl_device_type>(api, id, CL_DEVICE_TYPE));
    facts.memory_bytes = value_of<cl_ulong>(api, id, CL_DEVICE_GLOBAL_MEM_SIZE);
    facts.largest_block_bytes = value_of<cl_ulong>(api, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    facts.compute_units = value_of<cl_uint>(api, id, CL_DEVICE_MAX_COMPUTE_UNITS);
    facts.shares_host_memory = value_of<cl_bool>(api, id, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
    if (const auto megahertz = value_of<cl_uint>(api, id, CL_DEVICE_MAX_CLOCK_FREQUENCY); megahertz != 0) {
        facts.clock_hz = megahertz * 1'000'000ULL;
    }
    const auto svm = value_of<cl_device_svm_capabilities>(api, id, CL_DEVICE_SVM_CAPABILITIES);
    found.has_fine_grained_svm = (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0 && api.svm_allocate != nullptr &&
                                 api.svm_free != nullptr && api.svm_copy != nullptr && api.set_svm_argument != nullptr;
    return found;
}

}  // namespace

base::Expected<std::vector<FoundDevice>> find_devices(const Library& api)
{
    cl_uint count = 0;
    if (const cl_int code = api.get_platforms(0, nullptr, &count); code != CL_SUCCESS || count == 0) {
        return base::fail(base::ErrorCode::not_supported,
                          code == CL_SUCCESS
                              ? std::string{"no driver is installed"}
                              : fmt::format("no driver is installed: clGetPlatformIDs: {}", name_of_code(code)));
    }
    std::vector<cl_platform_id> platforms(count);
    if (const cl_int code = api.get_platforms(count, platforms.data(), nullptr); code != CL_SUCCESS) {
        return base::fail(failure("clGetPlatformIDs", code));
    }
    std::vector<FoundDevice> all;
    for (cl_platform_id platform : platforms) {
        cl_uint devices = 0;  // a driver whose device is not there answers CL_DEVICE_NOT_FOUND
        if (api.get_devices(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) != CL_SUCCESS || devices == 0) {
            continue;
        }
        std::vector<cl_device_id> ids(devices);
        if (const cl_int code = api.get_devices(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr);
            code != CL_SUCCESS) {
            return base::fail(failure("clGetDeviceIDs", code));
        }
        for (cl_device_id id : ids) {
            all.push_back(describe(api, platform, id));
        }
    }
    if (all.empty()) {
        return base::fail(base::ErrorCode::not_supported, "the installed drivers have no device");
    }
    return all;
}

}  // namespace memsweep::device::opencl
