// The OpenCL loader, looked up when it is asked for, because no program of ours needs one to start; and the devices of
// this machine's OpenCL drivers.
//
// Sources  OpenCL 3.0 specification; those of shared virtual memory may be nullptr.
//
// Cost     find_devices loads every driver that is installed: 16 ms for PoCL.
//
// Ownership  The library stays loaded until the process ends: drivers leave threads behind.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300  // NOLINT(readability-identifier-naming): the headers' own
#endif
#include <CL/cl.h>

#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/device/runtime.hpp"

namespace memsweep::device::opencl {

struct Library {
    decltype(&clGetPlatformIDs) get_platforms{};
    decltype(&clGetPlatformInfo) platform_info{};
    decltype(&clGetDeviceIDs) get_devices{};
    decltype(&clGetDeviceInfo) device_info{};
    decltype(&clCreateContext) create_context{};
    decltype(&clReleaseContext) release_context{};
    decltype(&clCreateCommandQueueWithProperties) create_queue{};
    decltype(&clReleaseCommandQueue) release_queue{};
    decltype(&clFinish) finish{};
    decltype(&clFlush) flush{};
    decltype(&clCreateBuffer) create_buffer{};
    decltype(&clReleaseMemObject) release_buffer{};
    decltype(&clEnqueueMapBuffer) map_buffer{};
    decltype(&clEnqueueUnmapMemObject) unmap{};
    decltype(&clEnqueueWriteBuffer) write{};
    decltype(&clEnqueueReadBuffer) read{};
    decltype(&clEnqueueCopyBuffer) copy{};
    decltype(&clEnqueueFillBuffer) fill{};
    decltype(&clEnqueueMarkerWithWaitList) marker{};
    decltype(&clEnqueueBarrierWithWaitList) barrier{};
    decltype(&clCreateUserEvent) create_user_event{};
    decltype(&clSetUserEventStatus) set_user_event{};
    decltype(&clGetEventInfo) event_info{};
    decltype(&clGetEventProfilingInfo) profiling_info{};
    decltype(&clWaitForEvents) wait_for_events{};
    decltype(&clReleaseEvent) release_event{};
    decltype(&clCreateProgramWithSource) create_program{};
    decltype(&clBuildProgram) build_program{};
    decltype(&clGetProgramBuildInfo) build_info{};
    decltype(&clReleaseProgram) release_program{};
    decltype(&clCreateKernel) create_kernel{};
    decltype(&clReleaseKernel) release_kernel{};
    decltype(&clSetKernelArg) set_argument{};
    decltype(&clEnqueueNDRangeKernel) run_kernel{};
    decltype(&clSVMAlloc) svm_allocate{};
    decltype(&clSVMFree) svm_free{};
    decltype(&clEnqueueSVMMemcpy) svm_copy{};
    decltype(&clSetKernelArgSVMPointer) set_svm_argument{};
    decltype(&clEnqueueSVMMigrateMem) svm_migrate{};
};

// not_supported: there is no libOpenCL.so.1, or it is older than OpenCL 2.0.
[[nodiscard]] base::Expected<Library> load_library();

// "CL_OUT_OF_RESOURCES (-5)"
[[nodiscard]] std::string name_of_code(cl_int code);

// device: "clFinish: CL_OUT_OF_RESOURCES (-5)"; budget where the code says that there is no memory.
[[nodiscard]] base::Error failure(const char* call, cl_int code);
[[nodiscard]] inline base::Expected<void> outcome(const char* call, cl_int code)
{
    return code == CL_SUCCESS ? base::Expected<void>{} : base::fail(failure(call, code));
}

struct FoundDevice {
    cl_platform_id platform{};
    cl_device_id id{};
    DeviceFacts facts;
    bool has_fine_grained_svm{};  // one address for both sides without calls to map it
};

// not_supported: no driver, or none that has a device.
[[nodiscard]] base::Expected<std::vector<FoundDevice>> find_devices(const Library& api);

}  // namespace memsweep::device::opencl
