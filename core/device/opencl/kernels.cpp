// What devices do by kernels: copies, patterns written and checked. Compiled by the driver when first asked for.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/device/opencl/runtime.hpp"

namespace memsweep::device::opencl {
namespace {

using base::ErrorCode;

constexpr const char* source = R"(
ulong pattern_word(ulong seed, ulong word)
{
    ulong mixed = seed + (word + 1) * 0x9E3779B97F4A7C15UL;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9UL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBUL;
    return mixed ^ (mixed >> 31);
}

kernel void copy(global uchar* to, ulong to_offset, global const uchar* from, ulong from_offset, ulong pairs)
{
    global ulong2* into = (global ulong2*)(to + to_offset);
    global const ulong2* out_of = (global const ulong2*)(from + from_offset);
    for (ulong at = get_global_id(0); at < pairs; at += get_global_size(0)) {
        into[at] = out_of[at];
    }
}

kernel void follow(global const volatile uchar* chain, ulong chain_offset, ulong loads, global uchar* place,
                   ulong place_offset)
{
    global ulong* ended = (global ulong*)(place + place_offset);
    ulong at = *ended;
    for (ulong load = 0; load < loads; ++load) {
        at = *(global const volatile ulong*)(chain + chain_offset + at);
    }
    *ended = at;
}

kernel void write_pattern(global uchar* to, ulong offset, ulong words, ulong seed, ulong first)
{
    global ulong* into = (global ulong*)(to + offset);
    for (ulong at = get_global_id(0); at < words; at += get_global_size(0)) {
        into[at] = pattern_word(seed, first + at);
    }
}

kernel void check_pattern(global const uchar* from, ulong offset, ulong words, ulong seed, ulong first,
                          global uint* found)
{
    global const ulong* out_of = (global const ulong*)(from + offset);
    uint wrong = 0;
    uint lowest = UINT_MAX;
    for (ulong at = get_global_id(0); at < words; at += get_global_size(0)) {
        if (out_of[at] != pattern_word(seed, first + at)) {
            lowest = wrong == 0 ? (uint)at : lowest;
            wrong += 1;
        }
    }
    if (wrong != 0) {
        atomic_add(found, wrong);
        atomic_min(found + 1, lowest);
    }
}
)";

constexpr std::uint64_t items_per_unit = 1024;

}  // namespace

// One launch: its arguments in order, then run.
class OpenClRuntime::Kernel {
  public:
    Kernel(const Library& api, Queue& stream, cl_kernel kernel, const char* name, std::uint64_t units) noexcept
        : api_{&api}, stream_{&stream}, kernel_{kernel}, name_{name}, units_{units}
    {
    }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    Kernel(Kernel&& other) noexcept
        : api_{other.api_}, stream_{other.stream_}, kernel_{std::exchange(other.kernel_, nullptr)}, name_{other.name_},
          units_{other.units_}, index_{other.index_}, code_{other.code_}
    {
    }
    Kernel& operator=(Kernel&&) = delete;
    ~Kernel()
    {
        if (kernel_ != nullptr) {
            api_->release_kernel(kernel_);
        }
    }

    Kernel& with(std::uint64_t value) { return set(sizeof value, &value); }
    Kernel& with(cl_mem buffer) { return set(sizeof(cl_mem), &buffer); }
    Kernel& with(const End& end, bool with_offset = true)
    {
        if (end.buffer != nullptr) {
            with(end.buffer);
        } else {
            const cl_int code = api_->set_svm_argument(kernel_, index_++, end.host);
            code_ = code_ == CL_SUCCESS ? code : code_;
        }
        return with_offset ? with(end.offset) : *this;
    }
    [[nodiscard]] base::Expected<void> run(std::uint64_t items)
    {
        const std::size_t global = std::min(items, units_ * items_per_unit);
        cl_event event = nullptr;
        if (code_ == CL_SUCCESS) {
            code_ = api_->run_kernel(stream_->queue, kernel_, 1, nullptr, &global, nullptr, 0, nullptr, &event);
        }
        if (code_ == CL_SUCCESS) {
            stream_->queued.push_back({name_, event});
        }
        return outcome(name_, code_);
    }

  private:
    Kernel& set(std::size_t bytes, const void* value)
    {
        const cl_int code = api_->set_argument(kernel_, index_++, bytes, value);
        code_ = code_ == CL_SUCCESS ? code : code_;
        return *this;
    }

    const Library* api_;
    Queue* stream_;
    cl_kernel kernel_;
    const char* name_;
    std::uint64_t units_;
    cl_uint index_{};
    cl_int code_{CL_SUCCESS};
};

base::Expected<cl_program> OpenClRuntime::program_of(std::uint32_t device)
{
    const auto context = MEMSWEEP_TRY(context_of(device));
    const std::lock_guard lock{mutex_};
    Platform& platform = platforms_.at(found_[device].platform);
    if (platform.program != nullptr) {
        return platform.program;
    }
    cl_int code = CL_SUCCESS;
    const char* text = source;
    cl_program program = api_.create_program(context, 1, &text, nullptr, &code);
    MEMSWEEP_TRY(outcome("clCreateProgramWithSource", code));
    code = api_.build_program(program, 0, nullptr, "", nullptr, nullptr);
    if (code != CL_SUCCESS) {
        std::array<char, 512> log{};
        api_.build_info(program, found_[device].id, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
        api_.release_program(program);
        base::Error error = failure("clBuildProgram", code);
        error.message += log[0] == '\0' ? "" : fmt::format(": {}", log.data());
        return base::fail(std::move(error));
    }
    return platform.program = program;
}

base::Expected<OpenClRuntime::Kernel> OpenClRuntime::kernel(Queue& stream, const char* name)
{
    cl_program program = MEMSWEEP_TRY(program_of(stream.device));
    cl_int code = CL_SUCCESS;
    cl_kernel made = api_.create_kernel(program, name, &code);
    MEMSWEEP_TRY(outcome("clCreateKernel", code));
    return Kernel{api_, stream, made, name, std::max(facts_[stream.device].compute_units, 1U)};
}

base::Expected<void> OpenClRuntime::queue_kernel_copy(const Stream& on, const End& to, const End& from,
                                                      std::uint64_t bytes)
{
    const std::uint64_t pairs = bytes / pair_bytes;
    return MEMSWEEP_TRY(kernel(*on, "copy")).with(to).with(from).with(pairs).run(pairs);
}

base::Expected<void> OpenClRuntime::queue_follow(const Stream& on, const End& chain, std::uint64_t loads,
                                                 const End& place)
{
    if (chain.device != on->device) {  // the driver would move the whole block to this device first
        return base::fail(ErrorCode::not_supported, peer(on->device, chain.device).reason);
    }
    return MEMSWEEP_TRY(kernel(*on, "follow")).with(chain).with(loads).with(place).run(1);
}

base::Expected<void> OpenClRuntime::queue_pattern(const Stream& on, const End& to, std::uint64_t bytes, Pattern pattern)
{
    const std::uint64_t words = bytes / word_bytes;
    auto launch = MEMSWEEP_TRY(kernel(*on, "write_pattern"));
    return launch.with(to).with(words).with(pattern.seed).with(pattern.first_word).run(words);
}

base::Expected<Mismatch> OpenClRuntime::found_mismatch(StreamId stream, const Stream& on, const End& from,
                                                       std::uint64_t bytes, Pattern pattern)
{
    const std::uint64_t words = bytes / word_bytes;
    if (words > std::numeric_limits<cl_uint>::max()) {
        return base::fail(ErrorCode::invalid_input, "check_pattern: more than 32 GiB at once");
    }
    std::array<cl_uint, 2> result{0, std::numeric_limits<cl_uint>::max()};
    cl_int code = CL_SUCCESS;
    const auto context = MEMSWEEP_TRY(context_of(on->device));
    cl_mem counts =
        api_.create_buffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof result, result.data(), &code);
    MEMSWEEP_TRY(outcome("clCreateBuffer", code));
    const auto done =
        kernel(*on, "check_pattern")
            .and_then([&](Kernel launch) {
                return launch.with(from)
                    .with(words)
                    .with(pattern.seed)
                    .with(pattern.first_word)
                    .with(counts)
                    .run(words);
            })
            .and_then([&] { return wait(stream); })
            .and_then([&] {
                return outcome("clEnqueueReadBuffer", api_.read(on->queue, counts, CL_TRUE, 0, sizeof result,
                                                                result.data(), 0, nullptr, nullptr));
            });
    api_.release_buffer(counts);
    return done.map(
        [&] { return Mismatch{.words = result[0], .first_byte = result[0] == 0 ? 0 : result[1] * word_bytes}; });
}

}  // namespace memsweep::device::opencl
