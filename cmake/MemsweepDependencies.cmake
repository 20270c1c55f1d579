# Every library memsweep uses, found once. scripts/install_deps.sh installs the Debian packages named here.
include(CMakeDependentOption)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)                 # libfmt-dev
find_package(tl-expected REQUIRED)           # libexpected-dev
find_package(nlohmann_json 3.11 REQUIRED)    # nlohmann-json3-dev
find_package(CLI11 2.1 REQUIRED)             # libcli11-dev
find_path(MEMSWEEP_RE2_HEADERS re2/re2.h REQUIRED)
if(NOT BUILD_SHARED_LIBS)  # distributions compile archives for programs alone
  set(md_archive libmd.a)
  # Newer archives of re2 (Debian 13) are not enough to link with: they need some of Abseil's, too.
  file(STRINGS "${MEMSWEEP_RE2_HEADERS}/re2/re2.h" abseil_headers REGEX "^#include \"absl/")
  if(NOT abseil_headers)
    set(re2_archive libre2.a)
  endif()
endif()
find_library(MEMSWEEP_LIBMD NAMES ${md_archive} md REQUIRED)   # libmd-dev: SHA-256
find_library(MEMSWEEP_ZSTD NAMES zstd REQUIRED)           # libzstd-dev: traces
find_library(MEMSWEEP_HWLOC NAMES hwloc REQUIRED)         # libhwloc-dev: processors, caches, nodes
find_path(MEMSWEEP_HWLOC_HEADERS hwloc.h REQUIRED)
find_library(MEMSWEEP_RE2 NAMES ${re2_archive} re2 REQUIRED)    # libre2-dev: --filter, in linear time and bounded memory
find_path(MEMSWEEP_XXHASH_HEADERS xxhash.h REQUIRED)      # libxxhash-dev, compiled in: checksums of what programs print
find_package(ZLIB REQUIRED)                  # zlib1g-dev: heaptrack's logs
# fmt, re2 and libstdc++ inside of memsweep: it starts in two thirds of the time, of which the dynamic loader spends most on
# the symbols of libstdc++. The unwinder stays shared, because two of them cannot pass on each other's exceptions.
if(MEMSWEEP_RE2 MATCHES "[.]a$" AND fmt_VERSION VERSION_LESS 10 AND NOT MEMSWEEP_SANITIZE)
  try_compile(MEMSWEEP_LINKED_IN_WORKS
    SOURCE_FROM_CONTENT trial.cpp "#include <fmt/format.h>
#include <re2/re2.h>
int main(int argc, char** argv) { return RE2::PartialMatch(fmt::format(\"{} {:L} {:.3f}\", argv[0], argc, 1.5), \"x\"); }"
    SOURCES "${PROJECT_SOURCE_DIR}/app/fmt_definitions.cpp"
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
    LINK_OPTIONS -static-libstdc++ LINK_LIBRARIES "${MEMSWEEP_RE2}" Threads::Threads)
else()
  set(MEMSWEEP_LINKED_IN_WORKS OFF)
endif()
cmake_dependent_option(MEMSWEEP_LINKED_IN "Link fmt, re2 and libstdc++ into memsweep" ON MEMSWEEP_LINKED_IN_WORKS OFF)
find_program(MEMSWEEP_MUSL_COMPILER musl-gcc)  # musl-tools: memsweep-launch starts in an eighth of the time; glibc will do
set(MEMSWEEP_MUSL_WORKS OFF)
if(MEMSWEEP_MUSL_COMPILER AND NOT CMAKE_CROSSCOMPILING)
  execute_process(COMMAND "${MEMSWEEP_MUSL_COMPILER}" -x c++ -std=c++20 -nostdinc++ -fsyntax-only -I "${PROJECT_SOURCE_DIR}"
                          "${PROJECT_SOURCE_DIR}/core/sys/launcher/main.cpp" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed EQUAL 0)
    set(MEMSWEEP_MUSL_WORKS ON)
  endif()
endif()
cmake_dependent_option(MEMSWEEP_MUSL "Compile memsweep-launch with musl" ON MEMSWEEP_MUSL_WORKS OFF)
find_path(MEMSWEEP_LIBDW_HEADERS elfutils/libdwfl.h)      # libdw-dev, optional: functions and lines of call stacks; opened at run time
if(NOT MEMSWEEP_SANITIZE)
  set(MPI_CXX_SKIP_MPICXX TRUE)
  find_package(MPI QUIET COMPONENTS CXX)     # libopenmpi-dev, optional: memsweep-mpi
endif()
set(MEMSWEEP_HAS_CUDA OFF)
set(MEMSWEEP_HAS_HIP OFF)
if(MEMSWEEP_DEVICES)
  find_path(MEMSWEEP_OPENCL_HEADERS CL/cl.h REQUIRED)  # opencl-headers; the loader is opened at run time
  find_package(CUDAToolkit 12 QUIET)          # NVIDIA's; Debian's main archive has none
  find_program(MEMSWEEP_HIPCC hipcc)           # hipcc, optional: AMD's devices
  find_path(MEMSWEEP_HIP_HEADERS hip/hip_runtime_api.h)
  find_library(MEMSWEEP_HIP_LIBRARY amdhip64)
  if(MEMSWEEP_HIPCC AND MEMSWEEP_HIP_HEADERS)
    set(MEMSWEEP_HAS_HIP ON)
  endif()
  if(CUDAToolkit_FOUND AND TARGET CUDA::cudart_static AND CUDAToolkit_NVCC_EXECUTABLE)
    set(MEMSWEEP_HAS_CUDA ON)
  endif()
endif()
if(MEMSWEEP_HIP AND NOT (MEMSWEEP_HAS_HIP AND MEMSWEEP_HIP_LIBRARY))
  message(FATAL_ERROR "MEMSWEEP_HIP needs hipcc (Debian's package of that name) and MEMSWEEP_DEVICES")
endif()
if(MEMSWEEP_BUILD_BENCHMARKS)
  find_package(benchmark 1.7 REQUIRED)       # libbenchmark-dev
endif()
if(MEMSWEEP_BUILD_TESTS)
  find_package(Catch2 REQUIRED)              # catch2
  find_package(valijson REQUIRED)            # libvalijson-dev
endif()
