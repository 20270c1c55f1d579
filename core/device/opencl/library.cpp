#include "core/device/opencl/library.hpp"

#include <dlfcn.h>

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.hpp"

namespace memsweep::device::opencl {
namespace {

// The codes that occur in practice, and those whose names say what to do.
constexpr std::array<std::pair<cl_int, const char*>, 32> codes{{
    {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    {CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {CL_MEM_COPY_OVERLAP, "CL_MEM_COPY_OVERLAP"},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    {CL_MAP_FAILURE, "CL_MAP_FAILURE"},
    {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    {CL_INVALID_PLATFORM, "CL_INVALID_PLATFORM"},
    {CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    {CL_INVALID_QUEUE_PROPERTIES, "CL_INVALID_QUEUE_PROPERTIES"},
    {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    {CL_INVALID_HOST_PTR, "CL_INVALID_HOST_PTR"},
    {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    {CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
    {CL_INVALID_KERNEL, "CL_INVALID_KERNEL"},
    {CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"},
    {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE"},
    {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
    {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
    {CL_INVALID_EVENT_WAIT_LIST, "CL_INVALID_EVENT_WAIT_LIST"},
    {CL_INVALID_EVENT, "CL_INVALID_EVENT"},
    {CL_INVALID_OPERATION, "CL_INVALID_OPERATION"},
    {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
    {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
}};

bool is_out_of_memory(cl_int code)
{
    return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY || code == CL_INVALID_BUFFER_SIZE;
}

std::string text_of(const Library& api, cl_device_id device, cl_device_info what)
{
    std::size_t bytes = 0;
    if (api.device_info(device, what, 0, nullptr, &bytes) != CL_SUCCESS) {
        return {};
    }
    std::string text(bytes, '\0');
    return api.device_info(device, what, bytes, text.data(), nullptr) == CL_SUCCESS
               ? std::string{base::trimmed(text.c_str())}
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
    facts.driver = fmt::format("{} ({})", text_of(api, id, CL_DRIVER_VERSION), text_of(api, id, CL_DEVICE_VERSION));
    facts.device_class = class_of(value_of<cl_device_type>(api, id, CL_DEVICE_TYPE));
    facts.memory_bytes = value_of<cl_ulong>(api, id, CL_DEVICE_GLOBAL_MEM_SIZE);
    facts.largest_block_bytes = value_of<cl_ulong>(api, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    facts.compute_units = value_of<cl_uint>(api, id, CL_DEVICE_MAX_COMPUTE_UNITS);
    facts.shares_host_memory = value_of<cl_bool>(api, id, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
    const auto svm = value_of<cl_device_svm_capabilities>(api, id, CL_DEVICE_SVM_CAPABILITIES);
    found.has_fine_grained_svm = (svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0 && api.svm_allocate != nullptr &&
                                 api.svm_free != nullptr && api.svm_copy != nullptr && api.set_svm_argument != nullptr;
    return found;
}

}  // namespace

base::Expected<Library> load_library()
{
    void* const loaded = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) {
        return base::fail(base::ErrorCode::not_supported, "no loader (libOpenCL.so.1) is installed");
    }
    Library api;
    const char* missing = nullptr;
#define MEMSWEEP_FIND(function, member)                                                                                \
    api.member = reinterpret_cast<decltype(&(function))>(::dlsym(loaded, #function));
#define MEMSWEEP_FIND_NEEDED(function, member)                                                                         \
    MEMSWEEP_FIND(function, member)                                                                                    \
    missing = missing == nullptr && api.member == nullptr ? #function : missing;
    MEMSWEEP_OPENCL_NEEDED(MEMSWEEP_FIND_NEEDED)
    MEMSWEEP_OPENCL_SHARED_MEMORY(MEMSWEEP_FIND)
#undef MEMSWEEP_FIND_NEEDED
#undef MEMSWEEP_FIND
    if (missing != nullptr) {
        return base::fail(base::ErrorCode::not_supported,
                          fmt::format("libOpenCL.so.1 is older than OpenCL 2.0: it has no {}", missing));
    }
    return api;
}

std::string name_of_code(cl_int code)
{
    for (const auto& [known, name] : codes) {
        if (known == code) {
            return fmt::format("{} ({})", name, code);
        }
    }
    return fmt::format("error {}", code);
}

base::Error failure(const char* call, cl_int code)
{
    return {.code = is_out_of_memory(code) ? base::ErrorCode::budget : base::ErrorCode::device,
            .message = fmt::format("{}: {}", call, name_of_code(code))};
}

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
