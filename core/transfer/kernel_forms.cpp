#include "core/transfer/kernel_forms.hpp"

#include <cstring>

#include "core/transfer/kernel_levels.hpp"
#ifdef MEMSWEEP_X86_64
#include <cpuid.h>
#endif

namespace memsweep::transfer {
namespace {

std::uint64_t libc_memcpy(const Operands& on) noexcept
{
    std::memcpy(on.a, on.b, on.elements * sizeof(double));
    return 0;
}

std::uint64_t libc_memset(const Operands& on) noexcept
{
    std::memset(on.a, memset_byte(on.scalar), on.elements * sizeof(double));
    return 0;
}

#ifdef MEMSWEEP_X86_64
// Asked of the processor itself: Clang 16 does not know the name. It needs no help of the system's.
bool has_movdir64b()
{
    constexpr unsigned int movdir64b = 1U << 28;
    unsigned int a{}, b{}, c{}, d{};
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & movdir64b) != 0;
}
#endif

struct Found {
    std::vector<Form> forms;
    std::string_view widest{"scalar"};

    void add(const FormTable& table) { forms.insert(forms.end(), table.forms, table.forms + table.count); }
    void add_level(const FormTable& table)
    {
        add(table);
        widest = table.forms->level;
    }
};

Found find()
{
    Found found;
    found.add_level(forms_scalar);
#ifdef MEMSWEEP_X86_64
    if (__builtin_cpu_supports("avx2")) {
        found.add_level(forms_avx2);
    }
    if (__builtin_cpu_supports("avx512f")) {
        found.add_level(forms_avx512);
    }
    if (has_movdir64b()) {
        found.add(forms_movdir64b);
    }
    found.add(forms_rep);
#endif
#ifdef __aarch64__
    found.add_level(forms_neon);
#endif
    found.forms.push_back({Kernel::memcpy, Store::opaque, "libc", 0, 1, 0, libc_memcpy});
    found.forms.push_back({Kernel::memset, Store::opaque, "libc", 0, 1, 0, libc_memset});
    return found;
}

const Found& found_forms()
{
    static const Found found = find();
    return found;
}

bool is_narrower_level(const Form& form)
{
    const bool of_a_level = form.level == "scalar" || form.level == "avx2" || form.level == "avx512";
    return of_a_level && form.level != found_forms().widest;
}

}  // namespace

const std::vector<Form>& runnable_forms()
{
    return found_forms().forms;
}

const Form* simplest_form(Kernel kernel, Store store)
{
    for (const Form& form : runnable_forms()) {
        const bool straight = form.prefetch_bytes == 0 && form.pages == 1;
        if (form.kernel == kernel && form.store == store && straight && !is_narrower_level(form)) {
            return &form;
        }
    }
    return nullptr;
}

std::vector<const Form*> candidates(Kernel kernel)
{
    std::vector<const Form*> among;
    for (const Form& form : runnable_forms()) {
        if (form.kernel == kernel && !is_narrower_level(form)) {
            among.push_back(&form);
        }
    }
    return among;
}

}  // namespace memsweep::transfer
