// Loads the OpenCL library at run time, so that memsweep starts without it, and finds the devices of the installed
// OpenCL drivers.
//
// Sources  OpenCL 3.0 specification.
//
// Cost     find_devices() loads every installed driver: 16 ms for PoCL.
//
// Ownership  The library stays loaded until the process ends, because drivers leave threads behind.
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

// The functions that we call. X takes the name of the function and the name of the member of Library that points to it.
#define MEMSWEEP_OPENCL_NEEDED(X)                                                                                      \
    X(clGetPlatformIDs, get_platforms)                                                                                 \
    X(clGetPlatformInfo, platform_info)                                                                                \
    X(clGetDeviceIDs, get_devices)                                                                                     \
    X(clGetDeviceInfo, device_info)                                                                                    \
    X(clCreateContext, create_context)                                                                                 \
    X(clReleaseContext, release_context)                                                                               \
    X(clCreateCommandQueueWithProperties, create_queue)                                                                \
    X(clReleaseCommandQueue, release_queue)                                                                            \
    X(clFinish, finish)                                                                                                \
    X(clFlush, flush)                                                                                                  \
    X(clCreateBuffer, create_buffer)                                                                                   \
    X(clReleaseMemObject, release_buffer)                                                                              \
    X(clEnqueueMapBuffer, map_buffer)                                                                                  \
    X(clEnqueueUnmapMemObject, unmap)                                                                                  \
    X(clEnqueueWriteBuffer, write)                                                                                     \
    X(clEnqueueReadBuffer, read)                                                                                       \
    X(clEnqueueCopyBuffer, copy)                                                                                       \
    X(clEnqueueFillBuffer, fill)                                                                                       \
    X(clEnqueueMarkerWithWaitList, marker)                                                                             \
    X(clEnqueueBarrierWithWaitList, barrier)                                                                           \
    X(clCreateUserEvent, create_user_event)                                                                            \
    X(clSetUserEventStatus, set_user_event)                                                                            \
    X(clGetEventInfo, event_info)                                                                                      \
    X(clGetEventProfilingInfo, profiling_info)                                                                         \
    X(clWaitForEvents, wait_for_events)                                                                                \
    X(clReleaseEvent, release_event)                                                                                   \
    X(clCreateProgramWithSource, create_program)                                                                       \
    X(clBuildProgram, build_program)                                                                                   \
    X(clGetProgramBuildInfo, build_info)                                                                               \
    X(clReleaseProgram, release_program)                                                                               \
    X(clCreateKernel, create_kernel)                                                                                   \
    X(clReleaseKernel, release_kernel)                                                                                 \
    X(clSetKernelArg, set_argument)                                                                                    \
    X(clEnqueueNDRangeKernel, run_kernel)
// The functions for shared virtual memory. If the library lacks one of them, its member of Library is nullptr.
#define MEMSWEEP_OPENCL_SHARED_MEMORY(X)                                                                               \
    X(clSVMAlloc, svm_allocate)                                                                                        \
    X(clSVMFree, svm_free)                                                                                             \
    X(clEnqueueSVMMemcpy, svm_copy)                                                                                    \
    X(clSetKernelArgSVMPointer, set_svm_argument)                                                                      \
    X(clEnqueueSVMMigrateMem, svm_migrate)

struct Library {
#define MEMSWEEP_MEMBER(function, member) decltype(&(function)) member{};  // NOLINT(bugprone-macro-parentheses): a name
    MEMSWEEP_OPENCL_NEEDED(MEMSWEEP_MEMBER)
    MEMSWEEP_OPENCL_SHARED_MEMORY(MEMSWEEP_MEMBER)
#undef MEMSWEEP_MEMBER
};

// Loads the library.
//
// Errors   not_supported: there is no libOpenCL.so.1, or it is older than OpenCL 2.0.
[[nodiscard]] base::Expected<Library> load_library();

// Returns the name and the number of an error code: "CL_OUT_OF_RESOURCES (-5)".
[[nodiscard]] std::string name_of_code(cl_int code);

// Returns the error for a failed call: "clFinish: CL_OUT_OF_RESOURCES (-5)". Its ErrorCode is `budget` if the code
// means out of memory, else `device`.
[[nodiscard]] base::Error failure(const char* call, cl_int code);
[[nodiscard]] inline base::Expected<void> outcome(const char* call, cl_int code)
{
    return code == CL_SUCCESS ? base::Expected<void>{} : base::fail(failure(call, code));
}

struct FoundDevice {
    cl_platform_id platform{};
    cl_device_id id{};
    DeviceFacts facts;
    bool has_fine_grained_svm{};  // has memory with one address for host and device that need not be mapped
};

// Returns the devices of all drivers, at least one device.
//
// Errors   not_supported: there is no driver, or no driver has a device.
[[nodiscard]] base::Expected<std::vector<FoundDevice>> find_devices(const Library& api);

}  // namespace memsweep::device::opencl
