# What a builder may choose. Every option has a preset that uses it.
option(MEMSWEEP_BUILD_TESTS "Build the tests" ON)
option(MEMSWEEP_BUILD_BENCHMARKS "Build memsweep_bench (needs Google Benchmark)" ON)
option(MEMSWEEP_DEVICES "Build accelerator backends where their toolkits are found" ON)
option(MEMSWEEP_HIP "Compile AMD's devices in by hipcc: a backend that has never run" OFF)
option(MEMSWEEP_UNITY "Compile several files of a folder in one go: the whole build in a third of the time, a changed file slower" ON)
set(MEMSWEEP_SANITIZE "" CACHE STRING "address (with UBSan), thread, fuzzer or empty")
set_property(CACHE MEMSWEEP_SANITIZE PROPERTY STRINGS "" address thread fuzzer)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

find_program(MEMSWEEP_CCACHE ccache)
if(MEMSWEEP_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${MEMSWEEP_CCACHE}")
endif()
