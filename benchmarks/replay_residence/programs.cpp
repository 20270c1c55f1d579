// Twelve small programs whose threads are kept apart in different ways, each with and without blocks that survive. What
// a replay of their traces says about memory is held beside what they really hold (replay_residence.py).
//
//   programs NAME IDLE_SECONDS
//
// At its last event a program prints the most bytes that were resident and those that are, and, in a second line, those
// that are after it has slept: without files, from /proc/self/status. Then it ends at once. Looking allocates nothing.
#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Block {
    char* at{};
    std::size_t bytes{};
};
using Blocks = std::vector<Block>;

class Sizes {
  public:
    explicit Sizes(std::uint64_t seed) : state_{seed * 0x9E3779B97F4A7C15ULL + 1} {}
    std::size_t next()
    {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        const std::uint64_t random = state_ >> 33U;
        return random % 16 == 0 ? 4096 + random % 28'000 : 24 + random % 1500;
    }

  private:
    std::uint64_t state_;
};

Block make(std::size_t bytes)
{
    auto* at = static_cast<char*>(std::malloc(bytes));
    std::memset(at, 0x5A, bytes);
    return {at, bytes};
}

void fill(Blocks& blocks, Sizes& sizes, std::size_t bytes)
{
    for (std::size_t sum = 0; sum < bytes; sum += blocks.back().bytes) {
        blocks.push_back(make(sizes.next()));
    }
}

// All but every tenth, if some shall survive.
void drop(Blocks& blocks, bool keeps)
{
    Blocks kept;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (keeps && i % 10 == 0) {
            kept.push_back(blocks[i]);
        } else {
            std::free(blocks[i].at);
        }
    }
    blocks.swap(kept);
}

constexpr std::size_t mib = 1 << 20;
constexpr int workers = 8;

void run_all(const std::function<void(int)>& body, int count = workers)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back(body, i);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

class Barrier {
  public:
    void wait()
    {
        std::unique_lock lock{mutex_};
        const int round = round_;
        if (++here_ == workers) {
            here_ = 0;
            ++round_;
            changed_.notify_all();
        } else {
            changed_.wait(lock, [&] { return round != round_; });
        }
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int here_{};
    int round_{};
};

void join(bool keeps)  // each thread is joined before the next
{
    static std::vector<Blocks> kept(workers);
    for (int i = 0; i < workers; ++i) {
        std::thread{[i, keeps] {
            Sizes sizes(i);
            fill(kept[i], sizes, 32 * mib);
            drop(kept[i], keeps);
        }}.join();
    }
}

void mutex(bool keeps)  // one at a time holds memory
{
    static std::mutex one;
    static std::vector<Blocks> kept(workers);
    run_all([keeps](int i) {
        Sizes sizes(i);
        for (int round = 0; round < 6; ++round) {
            const std::lock_guard lock{one};
            Blocks blocks;
            fill(blocks, sizes, 24 * mib);
            drop(blocks, keeps && round % 3 == 0);
            kept[i].insert(kept[i].end(), blocks.begin(), blocks.end());
        }
    });
}

void condition(bool keeps)  // in turns, by a condition variable
{
    static std::mutex lock_of_turn;
    static std::condition_variable changed;
    static int turn = 0;
    static std::vector<Blocks> kept(workers);
    run_all([keeps](int i) {
        Sizes sizes(i);
        for (int round = 0; round < 4; ++round) {
            std::unique_lock lock{lock_of_turn};
            changed.wait(lock, [i] { return turn % workers == i; });
            Blocks blocks;
            fill(blocks, sizes, 30 * mib);
            drop(blocks, keeps);
            kept[i].insert(kept[i].end(), blocks.begin(), blocks.end());
            ++turn;
            changed.notify_all();
        }
    });
}

// One makes, others free. The queue is filled before it is emptied: one whose length is a matter of who is faster holds
// another amount in each run, and no recording of one run could foretell another.
void queue(bool keeps)
{
    constexpr int items = 200;
    constexpr std::size_t longest = 10;
    static std::mutex lock_of_queue;
    static std::condition_variable changed;
    static std::deque<Blocks> waiting;
    static bool empties = false;
    static int taken = 0;
    static std::vector<Blocks> kept(workers);
    run_all([keeps](int i) {
        if (i == 0) {
            Sizes sizes(7);
            for (int item = 0; item < items; ++item) {
                {
                    std::unique_lock lock{lock_of_queue};
                    changed.wait(lock, [] { return !empties; });
                }
                Blocks blocks;
                fill(blocks, sizes, 2 * mib);
                const std::lock_guard lock{lock_of_queue};
                waiting.push_back(std::move(blocks));
                empties = waiting.size() == longest;
                changed.notify_all();
            }
            return;
        }
        for (;;) {
            std::unique_lock lock{lock_of_queue};
            changed.wait(lock, [] { return empties || taken == items; });
            if (taken == items) {
                return;
            }
            // The last one of a filling is freed before the next begins.
            Blocks blocks = std::move(waiting.front());
            waiting.pop_front();
            ++taken;
            drop(blocks, keeps);
            kept[i].insert(kept[i].end(), blocks.begin(), blocks.end());
            empties = !waiting.empty();
            changed.notify_all();
        }
    });
}

void phases(bool keeps)  // all grow, then all shrink, between barriers
{
    static Barrier barrier;
    static std::vector<Blocks> kept(workers);
    run_all([keeps](int i) {
        Sizes sizes(i);
        for (int phase = 0; phase < 5; ++phase) {
            Blocks blocks;
            fill(blocks, sizes, (phase == 2 ? 12 : 4) * mib);
            barrier.wait();
            drop(blocks, keeps && phase % 2 == 0);
            kept[i].insert(kept[i].end(), blocks.begin(), blocks.end());
            barrier.wait();
        }
    });
}

void requests(bool keeps)  // a thread for each, four at a time; some leave a session behind
{
    static std::mutex lock_of_sessions;
    static std::map<int, Blocks> sessions;
    for (int first = 0; first < 400; first += 4) {
        run_all(
            [keeps, first](int i) {
                Sizes sizes(first + i);
                Blocks blocks;
                fill(blocks, sizes, 6 * mib);
                drop(blocks, keeps && (first + i) % 8 == 0);
                if (!blocks.empty()) {
                    const std::lock_guard lock{lock_of_sessions};
                    sessions[first + i] = std::move(blocks);
                }
            },
            4);
    }
}

struct Status {
    long peak{}, anonymous{}, file{}, shared{};
};

Status look()
{
    static char text[8192];
    const int file = ::open("/proc/self/status", O_RDONLY);
    const ssize_t length = ::read(file, text, sizeof text - 1);
    ::close(file);
    text[length > 0 ? length : 0] = '\0';
    const auto field = [](const char* name) {
        const char* const at = std::strstr(text, name);
        return at == nullptr ? 0 : std::strtol(at + std::strlen(name), nullptr, 10) * 1024;
    };
    return {field("VmHWM:"), field("RssAnon:"), field("RssFile:"), field("RssShmem:")};
}

template <typename... Numbers>
void print(const char* format, Numbers... numbers)
{
    char line[128];
    const int length = std::snprintf(line, sizeof line, format, numbers...);
    static_cast<void>(!::write(1, line, static_cast<std::size_t>(length)));
}

}  // namespace

int main(int count, char** words)
{
    const std::map<std::string, void (*)(bool)> programs{{"join", join},   {"mutex", mutex},   {"condition", condition},
                                                         {"queue", queue}, {"phases", phases}, {"requests", requests}};
    std::string name = count > 1 ? words[1] : "";
    const bool keeps = name.ends_with("_keeping");
    name = name.substr(0, name.find("_keeping"));
    const auto found = programs.find(name);
    if (found == programs.end() || count < 3) {
        std::fprintf(stderr, "usage: programs join|mutex|condition|queue|phases|requests[_keeping] SECONDS\n");
        return 2;
    }
    const double idle = std::atof(words[2]);
    found->second(keeps);
    const Status end = look();
    print("%ld %ld\n", end.peak - end.file - end.shared, end.anonymous);
    ::usleep(static_cast<useconds_t>(idle * 1e6));
    print("%ld\n", look().anonymous);
    ::_exit(0);
}
