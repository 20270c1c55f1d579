// The string instructions of x86, whose microcode chooses how to store.
#ifdef __x86_64__
#include "core/probe/kernel_levels.hpp"

namespace memsweep::probe {
namespace {

std::uint64_t rep_movsb(const Operands& on) noexcept
{
    void* to = on.a;
    const void* from = on.b;
    std::size_t bytes = on.elements * sizeof(double);
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    return 0;
}

std::uint64_t rep_stosq(const Operands& on) noexcept
{
    void* to = on.a;
    std::size_t words = on.elements;
    std::uint64_t value{};
    __builtin_memcpy(&value, &on.scalar, sizeof value);
    asm volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(value) : "memory");
    return 0;
}

constexpr Form table[]{{Kernel::copy, Store::opaque, "rep", 0, 1, 0, rep_movsb},
                       {Kernel::write, Store::opaque, "rep", 0, 1, 0, rep_stosq}};

}  // namespace

const FormTable forms_rep{table, sizeof table / sizeof table[0]};

}  // namespace memsweep::probe
#endif
