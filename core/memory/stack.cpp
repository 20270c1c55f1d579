#include "core/memory/stack.hpp"

#include "core/base/assert.hpp"
#include "core/memory/fenced_resource.hpp"
#include "core/memory/malloc_resource.hpp"
#include "core/memory/null_resource.hpp"
#include "core/memory/page_resource.hpp"

namespace memsweep::memory {

std::unique_ptr<MemoryResource> make_resource(model::ResourceKind kind, model::PageKind pages)
{
    switch (kind) {
    case model::ResourceKind::malloc:
        return std::make_unique<MallocResource>();
    case model::ResourceKind::pages:
        return std::make_unique<PageResource>(pages);
    case model::ResourceKind::null:
        return std::make_unique<NullResource>();
    }
    MEMSWEEP_ASSERT(false, "a resource kind outside its enumeration");
}

namespace {

std::unique_ptr<MemoryResource> make_base(const model::MemorySpec& spec, const model::SafetySpec& safety)
{
    const bool unmaps = safety.detect == model::Detection::unmap;
    if (spec.resource != model::ResourceKind::null && (unmaps || safety.guard_pages)) {
        return std::make_unique<FencedResource>(unmaps);
    }
    return make_resource(spec.resource, spec.pages);
}

}  // namespace

ResourceStack::ResourceStack(const model::MemorySpec& spec, const model::SafetySpec& safety, Counters& counters)
    : resource_{make_base(spec, safety)}
{
    MemoryResource* top = resource_.get();
    if (spec.limit_bytes != 0) {
        top = &limiting_.emplace(*top, spec.limit_bytes);
    }
    if (spec.fail_every != 0) {
        top = &failing_.emplace(*top, spec.fail_every);
    }
    if (safety.detect == model::Detection::quarantine && spec.resource != model::ResourceKind::null) {
        top = &quarantine_.emplace(*top, safety.quarantine_bytes);
    }
    counting_.emplace(*top, counters);
}

}  // namespace memsweep::memory
