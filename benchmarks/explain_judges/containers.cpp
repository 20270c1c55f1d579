// Containers of which most is erased, and what stays is never destroyed.
#include <map>
#include <string>

namespace {
std::map<int, std::string>* rows;
std::map<int, std::string>* survivors;
}  // namespace

[[gnu::noinline]] void load_rows(int first, int count)
{
    for (int i = first; i < first + count; ++i) {
        (*rows)[i] = std::string(100 + i % 60, 'x');
    }
}

[[gnu::noinline]] void keep_some(int number)
{
    (*survivors)[number] = std::string(40, 'y');
}

int main()
{
    rows = new std::map<int, std::string>;
    survivors = new std::map<int, std::string>;
    for (int i = 0; i < 6000; ++i) {
        load_rows(i * 15, 15);
        keep_some(i);
    }
    rows->clear();
}
