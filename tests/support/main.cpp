#define CATCH_CONFIG_RUNNER  // Catch2 v2: all of it is compiled here
#include "tests/support/catch.hpp"

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#endif

int main(int argc, char** argv)
{
    return Catch::Session().run(argc, argv);
}
