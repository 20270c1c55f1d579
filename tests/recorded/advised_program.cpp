// A program whose memory a setting of its allocator changes, or does not, by its first argument:
//
//   fastbins   frees 160,000 blocks that glibc keeps in fast bins (mxfast=0 or trimming ends that)
//   aligned    big aligned blocks freed out of order between small ones that stay (mmap_threshold ends that)
//   arenas     four threads that free nearly all they had, each in an arena of its own
//   slow       as fastbins, and takes 0.7 s of no processor
//   live       holds all that it has: nothing can be gained
//   tiny       hardly has a heap
//   prints     as fastbins, and prints what differs under another malloc
//   crashes    as fastbins, and aborts under another malloc
//   varies     as live, and prints its pid
//   rests      as fastbins; makes the file $2 when its work is done, and waits for a signal to end
//   says       as fastbins; prints "work is done" and waits
//   signals    as fastbins; sends SIGUSR1 to MEMSWEEP_PID and waits
//   fails      exits with 3
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

volatile unsigned long used;

char* filled(std::size_t bytes)
{
    auto* const block = static_cast<char*>(std::malloc(bytes));
    std::memset(block, 1, bytes);
    used = used + static_cast<unsigned char>(block[bytes / 2]);
    return block;
}

void free_fast()
{
    constexpr std::size_t blocks = 160'000;
    std::vector<char*> all(blocks);
    for (int round = 0; round < 3; ++round) {
        for (char*& block : all) {
            block = filled(100);
        }
        for (char* block : all) {
            std::free(block);
        }
    }
}

void align_blocks()
{
    constexpr std::size_t mebibyte = 1 << 20;
    for (int i = 0; i < 40; ++i) {
        auto* const one = static_cast<char*>(std::aligned_alloc(64, mebibyte));
        auto* const other = static_cast<char*>(std::aligned_alloc(64, mebibyte));
        std::memset(one, i, mebibyte);
        std::memset(other, i, mebibyte);
        used = used + static_cast<unsigned long>(filled(40)[0]);
        std::free(one);
        std::free(other);
    }
}

void use_arenas()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            std::vector<char*> blocks;
            for (int k = 0; k < 3000; ++k) {
                blocks.push_back(filled(4000));
            }
            used = used + static_cast<unsigned long>(filled(600)[0]);
            for (char* block : blocks) {
                std::free(block);
            }
            ::usleep(20'000);
        });
    }
    for (std::thread& one : threads) {
        one.join();
    }
}

void hold_all()
{
    for (int i = 0; i < 30'000; ++i) {
        used = used + static_cast<unsigned long>(filled(700)[0]);
    }
}

// Something else than the C library serves malloc, by what the environment says.
bool is_under_another()
{
    const char* const preload = std::getenv("LD_PRELOAD");
    return preload != nullptr && std::strstr(preload, "malloc") != nullptr;
}

}  // namespace

int main(int count, char** words)
{
    const std::string_view kind = count > 1 ? words[1] : "";
    if (kind == "fails") {
        return 3;
    }
    if (kind == "aligned") {
        align_blocks();
    } else if (kind == "arenas") {
        use_arenas();
    } else if (kind == "live" || kind == "varies") {
        hold_all();
    } else if (kind != "tiny") {
        free_fast();
    }
    if (kind == "slow") {
        ::usleep(700'000);
    }
    if (kind == "crashes" && is_under_another()) {
        std::abort();
    }
    if (kind == "varies") {
        std::printf("%d\n", static_cast<int>(::getpid()));
    }
    std::printf("%s\n", kind == "prints" && is_under_another() ? "something else" : "the same");
    std::fflush(stdout);
    if (kind == "rests" && count > 2) {
        ::close(::open(words[2], O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        ::pause();
    } else if (kind == "says") {
        std::puts("work is done");
        std::fflush(stdout);
        ::pause();
    } else if (kind == "signals") {
        const char* const pid = std::getenv("MEMSWEEP_PID");
        ::kill(pid == nullptr ? ::getppid() : static_cast<pid_t>(std::stol(pid)), SIGUSR1);
        ::pause();
    }
    return 0;
}
