#include <benchmark/benchmark.h>

#include "benchmarks/hot_paths.hpp"
#include "benchmarks/malloc_server.hpp"

// Some benchmarks run this executable again, under another malloc; instructions.py runs it under callgrind.
int main(int argc, char** argv)
{
    if (memsweep::benchmarks::served(argc, argv) || memsweep::benchmarks::ran_hot_path(argc, argv)) {
        return 0;
    }
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
