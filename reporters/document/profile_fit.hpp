// The report on the fit of a runtime profile. For each key, a sentence gives the value, where it comes from and how
// certain it is. The report also says how close the model comes to each recording.
#pragma once

#include <string>
#include <vector>

#include "core/lifetime/profile_fit.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct JudgedRecording {
    lifetime::Agreement agreement;
    bool is_check{};  // true: used only to check the fit, not to make it
};

struct ProfileReport {
    std::string name;
    std::string profile;          // the profile that the fitted one inherits
    std::string why;              // why `profile` is the one inherited
    lifetime::ReleaseKeys given;  // keys that recordings or options set
    lifetime::ProfileFit fit;
    std::vector<JudgedRecording> recordings;

    [[nodiscard]] std::uint64_t recorded_collections() const;  // collections in the recordings used for the fit
};

// Writes the sentence for a key: "managed_bytes is 18000: ...".
[[nodiscard]] std::string key_sentence(const ProfileReport& report, const lifetime::FittedKey& key);

[[nodiscard]] Document document(const ProfileReport& report);

}  // namespace memsweep::reporters
