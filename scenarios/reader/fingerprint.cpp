#include "scenarios/reader/fingerprint.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <sha2.h>

#include "core/model/plan.hpp"
#include "scenarios/reader/canonical.hpp"

namespace memsweep::scenarios {
namespace {

class Digest {
  public:
    Digest() { SHA256Init(&state_); }

    void add(std::string_view bytes)
    {
        SHA256Update(&state_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }

    void add_line(std::string_view text)
    {
        add(text);
        add("\n");
    }

    std::string hex()
    {
        std::array<char, SHA256_DIGEST_STRING_LENGTH> text{};
        SHA256End(&state_, text.data());
        return text.data();
    }

  private:
    SHA2_CTX state_{};
};

// By id: the order of axes and of their values decides only when a case runs, not what it measures.
std::vector<const model::Case*> by_id(const model::Plan& plan)
{
    std::vector<const model::Case*> cases;
    cases.reserve(plan.cases.size());
    for (const model::Case& plan_case : plan.cases) {
        cases.push_back(&plan_case);
    }
    std::stable_sort(cases.begin(), cases.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
    return cases;
}

}  // namespace

std::string sha256(std::string_view bytes)
{
    Digest digest;
    digest.add(bytes);
    return digest.hex();
}

std::string fingerprint(const model::Plan& plan)
{
    Digest digest;
    digest.add(fingerprint_version);
    digest.add_line(canonical_header(plan));
    for (const model::Case* plan_case : by_id(plan)) {
        digest.add_line(canonical_case(*plan_case));
    }
    for (const model::Assertion& assertion : plan.assertions) {
        digest.add_line(canonical_assertion(assertion));
    }
    return digest.hex();
}

}  // namespace memsweep::scenarios
