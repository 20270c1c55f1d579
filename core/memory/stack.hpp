// A resource with the adaptors that a MemorySpec and a SafetySpec ask for: counting over quarantine over failing over
// limiting over the resource.
//
// Counting is outermost, so the counters say what the program was granted, refused and gave back. Guard pages and
// detection by unmapping need mappings of their own: they replace the resource.
//
// Cost     a virtual call per layer; adaptors that the spec does not ask for are left out, counting never is.
// Threads  as its parts: any thread may allocate and free.
// Ownership  owns the resource and the adaptors; borrows the counters, which must outlive it.
#pragma once

#include <memory>
#include <optional>

#include "core/memory/counters.hpp"
#include "core/memory/counting_adaptor.hpp"
#include "core/memory/failing_adaptor.hpp"
#include "core/memory/limiting_adaptor.hpp"
#include "core/memory/quarantine_adaptor.hpp"
#include "core/memory/resource.hpp"
#include "core/model/specs.hpp"

namespace memsweep::memory {

[[nodiscard]] std::unique_ptr<MemoryResource> make_resource(model::ResourceKind kind, model::PageKind pages);

class ResourceStack {
  public:
    ResourceStack(const model::MemorySpec& spec, Counters& counters) : ResourceStack{spec, {}, counters} {}
    ResourceStack(const model::MemorySpec& spec, const model::SafetySpec& safety, Counters& counters);

    [[nodiscard]] MemoryResource& top() noexcept { return *counting_; }

    // Present when the spec asks for it.
    [[nodiscard]] QuarantineAdaptor* quarantine() noexcept { return quarantine_ ? &*quarantine_ : nullptr; }

  private:
    std::unique_ptr<MemoryResource> resource_;
    std::optional<LimitingAdaptor> limiting_;
    std::optional<FailingAdaptor> failing_;
    std::optional<QuarantineAdaptor> quarantine_;
    std::optional<CountingAdaptor> counting_;
};

}  // namespace memsweep::memory
