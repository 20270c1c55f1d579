// The forms that this build has, one table per level of the processor. Only kernel_forms.cpp may choose among them.
#pragma once

#include <cstddef>

#include "core/probe/kernel.hpp"

#ifdef __x86_64__
#define MEMSWEEP_X86_64
#endif

namespace memsweep::probe {

struct FormTable {
    const Form* forms;
    std::size_t count;
};

extern const FormTable forms_scalar;
#ifdef MEMSWEEP_X86_64
extern const FormTable forms_avx2;
extern const FormTable forms_avx512;
extern const FormTable forms_movdir64b;
extern const FormTable forms_rep;
#endif
#ifdef __aarch64__
extern const FormTable forms_neon;
#endif

}  // namespace memsweep::probe
