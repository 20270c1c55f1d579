#include "core/probe/kernel.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>

#ifdef MEMSWEEP_X86_64
#include <cpuid.h>
#endif

namespace memsweep::model {

template <>
std::span<const Named<probe::Kernel>> names<probe::Kernel>()
{
    using probe::Kernel;
    static constexpr std::array<Named<Kernel>, 9> table{{
        {Kernel::read, "read", "the sum of an array's words"},
        {Kernel::write, "write", "a = s"},
        {Kernel::copy, "copy", "a = b"},
        {Kernel::scale, "scale", "a = s b"},
        {Kernel::add, "add", "a = b + c"},
        {Kernel::triad, "triad", "a = b + s c"},
        {Kernel::update, "update", "a = a + s"},
        {Kernel::memset, "memset", "the C library's memset"},
        {Kernel::memcpy, "memcpy", "the C library's memcpy"},
    }};
    return table;
}

template <>
std::span<const Named<probe::Store>> names<probe::Store>()
{
    using probe::Store;
    static constexpr std::array<Named<Store>, 4> table{{
        {Store::none, "none", "nothing is stored"},
        {Store::plain, "plain", "through the caches: lines are read before they are written"},
        {Store::nt, "nt", "non-temporal: whole lines past the caches"},
        {Store::opaque, "opaque", "an instruction or the C library decides"},
    }};
    return table;
}

}  // namespace memsweep::model

namespace memsweep::probe {

std::string describe(const Form& form)
{
    std::string text{form.level};
    if (form.store == Store::plain || form.store == Store::nt) {
        text += fmt::format(" {}", model::name_of(form.store));
    }
    if (form.prefetch_bytes != 0) {
        text += fmt::format(", prefetch {} B ahead", form.prefetch_bytes);
    }
    if (form.pages > 1) {
        text += fmt::format(", {} pages side by side, {} {} each", form.pages, form.lines_per_turn,
                            form.lines_per_turn == 1 ? "line" : "lines");
    } else if (form.lines_per_turn == 1) {
        text += ", line by line";
    }
    if (form.alternating) {
        text += ", loads and stores alternating";
    }
    return text;
}

bool reads_b(Kernel kernel) noexcept
{
    return kernel != Kernel::write && kernel != Kernel::update && kernel != Kernel::memset;
}

bool reads_c(Kernel kernel) noexcept
{
    return kernel == Kernel::add || kernel == Kernel::triad;
}

bool writes_a(Kernel kernel) noexcept
{
    return kernel != Kernel::read;
}

ElementBytes bytes_per_element(Kernel kernel, Store store) noexcept
{
    constexpr std::uint32_t element = sizeof(double);
    const std::uint32_t arrays_read = (reads_b(kernel) ? 1U : 0U) + (reads_c(kernel) ? 1U : 0U);
    const std::uint32_t moved = kernel == Kernel::update ? 2 : arrays_read + (writes_a(kernel) ? 1U : 0U);
    ElementBytes bytes{.payload = element, .stream = moved * element};
    const bool reads_before_writing = writes_a(kernel) && kernel != Kernel::update;
    if (store != Store::opaque) {
        bytes.bus = bytes.stream + (store == Store::plain && reads_before_writing ? element : 0U);
    }
    return bytes;
}

unsigned char memset_byte(double scalar) noexcept
{
    return static_cast<unsigned char>(std::fmod(scalar, 256.0));
}

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
// The string instructions of x86, whose microcode chooses how to store.
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

// Asked by cpuid, because Clang 16 does not know the name; the operating system has no part in it.
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
    found.forms.push_back({Kernel::copy, Store::opaque, "rep", 0, 1, 0, false, rep_movsb});
    found.forms.push_back({Kernel::write, Store::opaque, "rep", 0, 1, 0, false, rep_stosq});
#endif
#ifdef __aarch64__
    found.add_level(forms_neon);
#endif
    found.forms.push_back({Kernel::memcpy, Store::opaque, "libc", 0, 1, 0, false, libc_memcpy});
    found.forms.push_back({Kernel::memset, Store::opaque, "libc", 0, 1, 0, false, libc_memset});
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

}  // namespace memsweep::probe
