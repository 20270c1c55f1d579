// Any bytes as a function's mangled name: demangled, taken apart and judged.
//
// Errors   a broken promise ends the process: a name without an end, or a part that is not of it.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/assert.hpp"
#include "core/trace/symbols/function_names.hpp"
#include "core/trace/symbols/rust_names.hpp"

namespace {

using namespace memsweep;

constexpr std::size_t most_of_rust = 64 << 10;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const auto rust = trace::rust_name(bytes);
    MEMSWEEP_ASSERT(!rust || rust->size() <= most_of_rust, "a name has its bounds");
    // A name of C ends at a zero byte; libstdc++'s demangler has bounds of its own, or none.
    const std::string name = bytes.starts_with("_Z") ? std::string{bytes} : trace::demangled(bytes);
    MEMSWEEP_ASSERT(rust || name == bytes, "what is no name stays as it is");
    const std::string_view bare = trace::bare_name(name);
    MEMSWEEP_ASSERT(bare.data() >= name.data() && bare.data() + bare.size() <= name.data() + name.size(),
                    "a part of a name is of it");
    static_cast<void>(trace::role_of(name));
    return 0;
}
