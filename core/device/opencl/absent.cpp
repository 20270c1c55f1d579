#include "core/device/open.hpp"

namespace memsweep::device {

base::Expected<std::unique_ptr<Runtime>> open_opencl()
{
    return base::fail(base::ErrorCode::not_supported, "this memsweep was built without it");
}

}  // namespace memsweep::device
