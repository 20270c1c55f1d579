#include <benchmark/benchmark.h>

#include "benchmarks/malloc_server.hpp"

// Some benchmarks run this executable again, under another malloc.
int main(int argc, char** argv)
{
    if (memsweep::benchmarks::served(argc, argv)) {
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
