// One macro for each sanitizer (address, thread): 1 if the file is compiled with it, else 0. GCC tells this by macros
// of its own, Clang by __has_feature.
#pragma once

#if defined(__has_feature)
#define MEMSWEEP_HAS_FEATURE(name) __has_feature(name)
#else
#define MEMSWEEP_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || MEMSWEEP_HAS_FEATURE(address_sanitizer)
#define MEMSWEEP_ADDRESS_SANITIZER 1
#else
#define MEMSWEEP_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || MEMSWEEP_HAS_FEATURE(thread_sanitizer)
#define MEMSWEEP_THREAD_SANITIZER 1
#else
#define MEMSWEEP_THREAD_SANITIZER 0
#endif
