// What `memsweep worker` runs and nothing else, so that the engine's tests need not build the application.
#include <cstdlib>

#include "core/engine/steps/worker.hpp"

int main(int argc, char** argv)
{
    return argc == 3 ? memsweep::engine::worker_main(std::atoi(argv[2])) : EXIT_FAILURE;
}
