#include "core/sys/idle_thread.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/sys/wait_ready.hpp"

namespace memsweep::sys {
namespace {

constexpr std::size_t stack_bytes = 8 << 20;  // a library's thread-local data may take most of a small one

void require(bool holds, int error, const char* what)
{
    if (!holds) {
        throw std::system_error{error, std::generic_category(), what};
    }
}

}  // namespace

void IdleThread::Unmap::operator()(void* stack) const noexcept
{
    ::munmap(stack, stack_bytes);
}

IdleThread::IdleThread() : wake_{::eventfd(1, EFD_CLOEXEC)}
{
    require(wake_.valid(), errno, "eventfd");
    void* stack = ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    require(stack != MAP_FAILED, errno, "a thread's stack");
    stack_.reset(stack);
    ::madvise(stack, stack_bytes, MADV_NOHUGEPAGE);  // fails only where the kernel has no huge pages
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstack(&attributes, stack, stack_bytes);
    const int refused = ::pthread_create(&thread_, &attributes, &sleep, this);
    ::pthread_attr_destroy(&attributes);
    require(refused == 0, refused, "a thread");
    started_.wait(false);
}

// The first read finds the count of 1 and returns, the second sleeps: the same code and the same stack twice.
void* IdleThread::sleep(void* self) noexcept
{
    auto& thread = *static_cast<IdleThread*>(self);
    for (int read = 0; read < 2; ++read) {
        std::uint64_t count{};
        static_cast<void>(retry_interrupted([&] { return ::read(thread.wake_.get(), &count, sizeof count); }));
        thread.started_.store(true);
        thread.started_.notify_one();
    }
    return nullptr;
}

IdleThread::~IdleThread()
{
    const std::uint64_t count{1};
    static_cast<void>(retry_interrupted([&] { return ::write(wake_.get(), &count, sizeof count); }));
    ::pthread_join(thread_, nullptr);
}

}  // namespace memsweep::sys
