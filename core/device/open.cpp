#include "core/device/open.hpp"

#include <fmt/format.h>

namespace memsweep::device {

std::unique_ptr<Runtime> open_runtime()
{
    auto cuda = open_cuda();
    if (cuda) {
        return *std::move(cuda);
    }
    auto opencl = open_opencl();
    if (opencl) {
        return *std::move(opencl);
    }
    return no_runtime(fmt::format("CUDA: {}; OpenCL: {}", cuda.error().message, opencl.error().message));
}

}  // namespace memsweep::device
