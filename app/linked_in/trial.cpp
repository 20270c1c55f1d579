// Asked of a compiler when the build is configured: whether it links fmt, re2 and its runtime in.
#include <fmt/format.h>
#include <re2/re2.h>

int main(int argc, char** argv)
{
    return RE2::PartialMatch(fmt::format("{} {:L} {:.3f}", argv[0], argc, 1.5), "x") ? 0 : 1;
}
