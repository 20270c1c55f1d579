#include "core/transfer/kernel.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace memsweep::model {

template <>
std::span<const Named<transfer::Kernel>> names<transfer::Kernel>()
{
    using transfer::Kernel;
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
std::span<const Named<transfer::Store>> names<transfer::Store>()
{
    using transfer::Store;
    static constexpr std::array<Named<Store>, 4> table{{
        {Store::none, "none", "nothing is stored"},
        {Store::plain, "plain", "through the caches: lines are read before they are written"},
        {Store::nt, "nt", "non-temporal: whole lines past the caches"},
        {Store::opaque, "opaque", "an instruction or the C library decides"},
    }};
    return table;
}

}  // namespace memsweep::model

namespace memsweep::transfer {

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

}  // namespace memsweep::transfer
