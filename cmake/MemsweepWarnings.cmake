# memsweep_warnings: warnings, which are errors in the presets. memsweep_flags, which every target of ours links but what
# is loaded into other programs: those, and the sanitizer of the preset.
# What the macros of assertions and debugging information name is told from the root of the project, so that two builds
# in two folders are equal byte for byte. With CCACHE_BASEDIR, ccache names headers by paths from the build folder.
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>"
                    "$<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${CMAKE_BINARY_DIR}/=build/>"
                    "$<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=../../=>")
if(MEMSWEEP_UNITY)
  # GCC collects its garbage from 128 MiB on, again and again, where many files at a time need 1 to 2 GiB (gcc(1),
  # ggc-min-heapsize, in KiB): a tenth of the processor's time of compiling them.
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=1000000>")
endif()

add_library(memsweep_warnings INTERFACE)
add_library(memsweep_flags INTERFACE)
target_link_libraries(memsweep_flags INTERFACE memsweep_warnings)
target_compile_options(memsweep_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor $<$<BOOL:${MEMSWEEP_WARNINGS_ARE_ERRORS}>:-Werror>
  -Wno-missing-field-initializers)  # designated initializers leave the rest to its defaults on purpose
if(MEMSWEEP_UNITY)
  # A local name may shadow that of another file, and a class may have a member of a type that only its own file knows.
  # Both are fine in files by themselves, which scripts/check.sh looks at.
  target_compile_options(memsweep_warnings INTERFACE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local -Wno-subobject-linkage>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # The scenario schema is one literal, longer than the standard asks of every compiler.
  target_compile_options(memsweep_warnings INTERFACE -Wno-overlength-strings)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 17)
    # std::stable_sort of GCC 12's library calls a function that the standard deprecates.
    target_compile_options(memsweep_warnings INTERFACE -Wno-deprecated-declarations)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC, 14 too, takes an empty std::optional's storage for a read wherever it optimises (GCC bug 80635).
  target_compile_options(memsweep_warnings INTERFACE -Wno-maybe-uninitialized)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 sees overlapping copies in std::string::insert and operator+ (GCC bug 105651).
    target_compile_options(memsweep_warnings INTERFACE -Wno-restrict)
  endif()
endif()
target_include_directories(memsweep_flags INTERFACE "${PROJECT_SOURCE_DIR}")

if(MEMSWEEP_SANITIZE STREQUAL "address")
  target_compile_options(memsweep_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(memsweep_flags INTERFACE -fsanitize=address,undefined)
elseif(MEMSWEEP_SANITIZE STREQUAL "thread")
  # Instrumented, GCC's flow warnings (array-bounds, stringop-overflow) see what is not there; the other builds ask for them.
  target_compile_options(memsweep_flags INTERFACE -fsanitize=thread)
  target_compile_options(memsweep_warnings INTERFACE -Wno-error)
  # GCC's TSan does not model atomic_thread_fence; none of ours is used.
  target_link_options(memsweep_flags INTERFACE -fsanitize=thread)
elseif(MEMSWEEP_SANITIZE STREQUAL "fuzzer")
  target_compile_options(memsweep_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  target_link_options(memsweep_flags INTERFACE -fsanitize=address,undefined)
elseif(MEMSWEEP_SANITIZE)
  message(FATAL_ERROR "MEMSWEEP_SANITIZE is '${MEMSWEEP_SANITIZE}'; it must be address, thread, fuzzer or empty")
endif()
