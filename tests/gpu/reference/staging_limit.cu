// The best that a ring of pinned slots, written by hand, does between ordinary memory and a device: memsweep's staged
// copies stand beside these, and so does the driver's own copy. All ways take turns within every round.
//
//   staging_limit [ROUNDS]      prints the columns below, for device 0: the median of the rounds. Into stderr: the huge
//                               pages that the kernel gave, and whatever arrived wrong
//
// A round before them warms up, one after them is checked byte by byte; neither counts.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <sys/mman.h>

namespace {

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = kib * kib;
constexpr std::size_t most_bytes = 256 * mib;
constexpr std::size_t slot_bytes = 4 * mib;  // the largest chunk
constexpr std::size_t huge_bytes = 2 * mib;

void check(cudaError_t code, const char* call)
{
    if (code != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(code));
        std::_Exit(1);  // other threads may be at work
    }
}

struct Job {
    bool to_device{};
    char* host{};
    char* device{};
    std::size_t bytes{};
    std::size_t chunk{};
};

struct Slot {
    char* data{};
    cudaEvent_t event{};  // behind the slot's last copy
    std::size_t offset{};
    std::size_t length{};
};

// Threads that begin a job together when the barrier lets them, and end it together.
struct Team {
    explicit Team(int count) : barrier{count + 1}
    {
        for (int i = 0; i < count; ++i) {
            threads.emplace_back([this] { work(); });
        }
    }

    ~Team()
    {
        stop = true;
        barrier.arrive_and_wait();
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

    void run(const Job& wanted)
    {
        job = wanted;
        next = 0;
        barrier.arrive_and_wait();
        barrier.arrive_and_wait();
    }

    void work()
    {
        Slot slots[2];
        cudaStream_t stream;
        check(cudaSetDevice(0), "cudaSetDevice");
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
        for (Slot& slot : slots) {
            check(cudaHostAlloc(&slot.data, slot_bytes, cudaHostAllocDefault), "cudaHostAlloc");
            check(cudaEventCreateWithFlags(&slot.event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
        }
        for (barrier.arrive_and_wait(); !stop; barrier.arrive_and_wait()) {
            job.to_device ? fill(slots, stream) : drain(slots, stream);
            check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
            barrier.arrive_and_wait();
        }
        for (Slot& slot : slots) {
            check(cudaEventDestroy(slot.event), "cudaEventDestroy");
            check(cudaFreeHost(slot.data), "cudaFreeHost");
        }
        check(cudaStreamDestroy(stream), "cudaStreamDestroy");
    }

    // The next chunk that nobody has; none are left once it returned false.
    bool take(Slot& slot)
    {
        slot.offset = next.fetch_add(job.chunk);
        slot.length = slot.offset < job.bytes ? std::min(job.chunk, job.bytes - slot.offset) : 0;
        return slot.length > 0;
    }

    void send(Slot& slot, void* to, const void* from, cudaStream_t stream)
    {
        check(cudaMemcpyAsync(to, from, slot.length, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
        check(cudaEventRecord(slot.event, stream), "cudaEventRecord");
    }

    void fill(Slot (&slots)[2], cudaStream_t stream)
    {
        for (int i = 0; take(slots[i]); i = 1 - i) {
            Slot& slot = slots[i];
            check(cudaEventSynchronize(slot.event), "cudaEventSynchronize");  // at once, if it never was recorded
            std::memcpy(slot.data, job.host + slot.offset, slot.length);
            send(slot, job.device + slot.offset, slot.data, stream);
        }
    }

    void drain(Slot (&slots)[2], cudaStream_t stream)
    {
        for (Slot& slot : slots) {
            if (take(slot)) {
                send(slot, slot.data, job.device + slot.offset, stream);
            }
        }
        for (int i = 0; slots[i].length > 0; i = 1 - i) {
            Slot& slot = slots[i];
            check(cudaEventSynchronize(slot.event), "cudaEventSynchronize");
            std::memcpy(job.host + slot.offset, slot.data, slot.length);
            if (take(slot)) {
                send(slot, slot.data, job.device + slot.offset, stream);
            }
        }
    }

    // All but `next` is written by the main thread, before the barrier lets the others on.
    Job job;
    bool stop{};
    std::atomic<std::size_t> next{};
    std::barrier<> barrier;
    std::vector<std::thread> threads;
};

struct Way {
    int threads{};  // 0: the driver's own copy
    std::size_t chunk{};
    Team* team{};
    std::vector<double> seconds;
};

double seconds_of(const Way& way, Job job)
{
    job.chunk = way.chunk;
    const auto begin = std::chrono::steady_clock::now();
    if (way.team != nullptr) {
        way.team->run(job);
    } else {
        check(job.to_device ? cudaMemcpy(job.device, job.host, job.bytes, cudaMemcpyHostToDevice)
                            : cudaMemcpy(job.host, job.device, job.bytes, cudaMemcpyDeviceToHost),
              "cudaMemcpy");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // it may return before the last part has arrived
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// One copy into memory that was cleared before, compared with what was sent.
bool arrives(const Way& way, const Job& job, const char* pattern, char* back)
{
    if (!job.to_device) {
        std::memset(job.host, 0, job.bytes);
        seconds_of(way, job);
        return std::memcmp(job.host, pattern, job.bytes) == 0;
    }
    check(cudaMemset(job.device, 0, job.bytes), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    seconds_of(way, job);
    check(cudaMemcpy(back, job.device, job.bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return std::memcmp(back, pattern, job.bytes) == 0;
}

// Of the whole process: what is no huge page of `host` is none at all, unless the kernel gives them to all.
long huge_kib()
{
    std::ifstream sums{"/proc/self/smaps_rollup"};
    long size = -1;
    for (std::string line; size < 0 && std::getline(sums, line);) {
        std::sscanf(line.c_str(), "AnonHugePages: %ld kB", &size);
    }
    return size;
}

// All ways in turns, begun by another one in each round. False where something arrived wrong.
bool measure(std::vector<Way>& ways, const Job& job, const char* pages, int rounds, const char* pattern, char* back)
{
    for (int round = -1; round < rounds; ++round) {
        for (std::size_t i = 0; i < ways.size(); ++i) {
            Way& way = ways[(i + 4 * (round + 1)) % ways.size()];
            const double seconds = seconds_of(way, job);
            if (round >= 0) {
                way.seconds.push_back(seconds);
            }
        }
    }
    bool right = true;
    for (Way& way : ways) {
        std::vector<double> all;
        all.swap(way.seconds);
        std::sort(all.begin(), all.end());
        const double median = (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
        const char* direction = job.to_device ? "to_device" : "from_device";
        const char* name = way.team != nullptr ? "ring" : "driver";
        if (!arrives(way, job, pattern, back)) {
            std::fprintf(stderr, "wrong data: %s, %zu bytes, %s pages, %s, %d threads, chunks of %zu bytes\n",
                         direction, job.bytes, pages, name, way.threads, way.chunk);
            right = false;
            continue;
        }
        std::printf("%s,%zu,%s,%s,%d,%zu,%.3f,%zu\n", direction, job.bytes, pages, name, way.threads, way.chunk,
                    static_cast<double>(job.bytes) / median / 1e9, all.size());
        std::fflush(stdout);
    }
    return right;
}

}  // namespace

int main(int count, char** words)
{
    const int rounds = count > 1 ? std::atoi(words[1]) : 5;
    if (rounds < 1) {
        std::fprintf(stderr, "usage: staging_limit [ROUNDS]\n");
        return 2;
    }
    char* device = nullptr;
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaMalloc(&device, most_bytes), "cudaMalloc");
    std::vector<std::uint64_t> numbers(most_bytes / sizeof(std::uint64_t));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = (i + 1) * 0x9e3779b97f4a7c15;  // no two alike
    }
    const char* pattern = reinterpret_cast<const char*>(numbers.data());
    std::vector<char> back(most_bytes);
    std::vector<std::unique_ptr<Team>> teams;
    std::vector<Way> ways(1);
    for (const int threads : {1, 4, 8, 12}) {
        teams.push_back(std::make_unique<Team>(threads));
        for (const std::size_t chunk : {512 * kib, mib, 2 * mib, 4 * mib}) {
            ways.push_back({.threads = threads, .chunk = chunk, .team = teams.back().get(), .seconds = {}});
        }
    }
    bool right = true;
    std::printf("direction,bytes,pages,way,threads,chunk_bytes,GB_per_s,rounds\n");
    for (const bool huge : {false, true}) {
        void* mapped =
            mmap(nullptr, most_bytes + huge_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) {
            std::perror("mmap");
            std::_Exit(1);
        }
        const auto above = (reinterpret_cast<std::uintptr_t>(mapped) + huge_bytes - 1) / huge_bytes * huge_bytes;
        char* host = reinterpret_cast<char*>(above);
        if (madvise(host, most_bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0) {
            std::perror("madvise");
        }
        for (const bool to_device : {true, false}) {
            for (const std::size_t bytes : {64 * mib, most_bytes}) {
                std::memcpy(host, pattern, most_bytes);  // the first touch, and again whatever was there before
                check(cudaMemcpy(device, pattern, most_bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
                check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
                const Job job{.to_device = to_device, .host = host, .device = device, .bytes = bytes, .chunk = 0};
                right = measure(ways, job, huge ? "2MiB" : "4KiB", rounds, pattern, back.data()) && right;
            }
        }
        std::fprintf(stderr, "%s: %ld of %zu KiB in huge pages\n", huge ? "2MiB" : "4KiB", huge_kib(),
                     most_bytes / kib);
        munmap(mapped, most_bytes + huge_bytes);
    }
    teams.clear();
    check(cudaFree(device), "cudaFree");
    return right ? 0 : 1;
}
