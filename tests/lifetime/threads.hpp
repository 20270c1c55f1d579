// Work run by several threads that start together.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace memsweep::tests {

// A gate that threads wait at until it is opened.
class Gate {
  public:
    void open()
    {
        open_ = true;
        open_.notify_all();
    }
    void wait() const { open_.wait(false); }

  private:
    std::atomic<bool> open_{false};
};

// work(number) in each of `count` threads, numbered from 0.
template <typename Work>
void in_parallel(std::size_t count, const Work& work)
{
    Gate gate;
    std::vector<std::thread> threads;
    threads.reserve(count);
    for (std::size_t number = 0; number < count; ++number) {
        threads.emplace_back([&, number] {
            gate.wait();
            work(number);
        });
    }
    gate.open();
    for (std::thread& thread : threads) {
        thread.join();
    }
}

// Two threads run through the numbers 0 to count - 1 side by side, so that one(number) and other(number) come as
// close together as they can. Neither ever blocks on the other: on a busy machine each hand-over would cost
// milliseconds.
template <typename One, typename Other>
void side_by_side(int count, const One& one, const Other& other)
{
    alignas(64) std::atomic<int> at_one{-1};
    alignas(64) std::atomic<int> at_other{-1};
    const auto keep_pace = [](std::atomic<int>& mine, const std::atomic<int>& theirs, int number) {
        mine = number;
        for (int spins = 0; spins < 300 && theirs.load() < number; ++spins) {
        }
    };
    in_parallel(2, [&](std::size_t thread) {
        for (int number = 0; number < count; ++number) {
            if (thread == 0) {
                keep_pace(at_one, at_other, number);
                one(number);
            } else {
                keep_pace(at_other, at_one, number);
                other(number);
            }
        }
    });
}

}  // namespace memsweep::tests
