// Memory that is lost on purpose: the leak is the measurement, not a mistake.
#pragma once

namespace memsweep::lifetime {

// Tells a leak checker, where one is linked in, not to report this memory.
void disown(const void* memory) noexcept;

}  // namespace memsweep::lifetime
