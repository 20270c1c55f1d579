#include "app/commands/advice_candidates.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/sys/allocator_library.hpp"
#include "core/sys/settings_taken.hpp"

namespace memsweep::app {
namespace {

using reporters::AdviceTry;
using reporters::MallocOrigin;

constexpr std::uint64_t large_process = std::uint64_t{256} << 20U;

std::string file_name_of(const std::string& path)
{
    return path.substr(path.rfind('/') + 1);
}

// The allocator that a library is, by the names that memsweep knows; empty: none of them.
std::string allocator_of(const std::string& library)
{
    const std::string name = file_name_of(library);
    for (const std::string_view stem : {"jemalloc", "mimalloc", "tcmalloc"}) {
        if (name.find(stem) != std::string::npos) {
            return std::string{stem};
        }
    }
    return sys::is_same_file(library, sys::c_library()) ? "glibc" : "";
}

}  // namespace

void take_origin(const base::Expected<trace::CountedTree>& tree, reporters::AdvisedProgram& program)
{
    if (!tree || tree->served.empty()) {
        program.origin = MallocOrigin::unseen;
        program.unrecorded = tree ? "no program of it could be looked at" : tree.error().message;
        return;
    }
    const auto is_foreign = [](const trace::ServedProgram& one) {
        return one.is_own || (!one.library.empty() && allocator_of(one.library) != "glibc");
    };
    const auto foreign = std::ranges::find_if(tree->served, is_foreign);
    if (foreign == tree->served.end()) {
        program.origin = MallocOrigin::libc;
        program.allocator = "glibc";
        return;
    }
    const bool is_of_one = tree->served.size() > 1;
    program.served = is_of_one ? file_name_of(foreign->program) : "";
    if (foreign->is_own) {
        program.origin = MallocOrigin::own;
        program.allocator = "its own";
        return;
    }
    const char* const preloaded = std::getenv("LD_PRELOAD");
    const std::string name = allocator_of(foreign->library);
    program.allocator = name.empty() ? file_name_of(foreign->library) : name;
    program.origin =
        preloaded != nullptr &&
                std::string_view{preloaded}.find(
                    file_name_of(foreign->library).substr(0, file_name_of(foreign->library).find(".so"))) !=
                    std::string_view::npos
            ? MallocOrigin::preloaded
            : MallocOrigin::linked;
}

Candidates::Candidates(const AdviceQuestion& question, const reporters::AdvisedProgram& program, std::uint64_t memory)
    : question_{question}, program_{program}, memory_{memory}
{
    for (const model::AllocatorChoice& choice : model::allocator_choices()) {
        add(choice);
    }
}

bool Candidates::comes_along(std::size_t admitted) const
{
    return program_.origin == MallocOrigin::linked && tries_[admitted_[admitted]].settings.keeps_allocator;
}

void Candidates::put_best_first()
{
    std::vector<std::size_t> order(admitted_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [this](std::size_t i) {
        return tries_[admitted_[i]].predicted.value_or(std::numeric_limits<double>::infinity());
    });
    std::vector<std::size_t> admitted;
    std::vector<model::AllocatorSpec> specs;
    for (const std::size_t i : order) {
        admitted.push_back(admitted_[i]);
        specs.push_back(std::move(specs_[i]));
    }
    admitted_ = std::move(admitted);
    specs_ = std::move(specs);
}

void Candidates::add(const model::AllocatorChoice& choice)
{
    AdviceTry tried;
    tried.settings.allocator = choice.allocator;
    tried.settings.text = model::choice_text(choice);
    for (const model::ChosenSetting& one : choice.settings()) {
        tried.settings.settings.emplace_back(
            one.name, model::written_value(*model::find_setting_style(choice.allocator),
                                           *model::find_setting(choice.allocator, one.name), one.value));
    }
    tried.settings.keeps_allocator = choice.allocator == program_.allocator;
    model::AllocatorSpec spec{.name = std::string{choice.allocator},
                              .library = {},
                              .environment = model::to_variables(choice.allocator, choice.settings())};
    Refusal refusal = why_not(choice, spec);
    if (!tried.settings.keeps_allocator && !spec.library.empty()) {
        tried.settings.environment.emplace_back("LD_PRELOAD", spec.library);
    }
    tried.settings.environment.insert(tried.settings.environment.end(), spec.environment.begin(),
                                      spec.environment.end());
    if (refusal.word.empty() && tried.settings.keeps_allocator && choice.settings().empty()) {
        return;  // that is the program as it is
    }
    tried.dropped = std::move(refusal.word);
    tried.why = std::move(refusal.why);
    if (tried.dropped.empty()) {
        admitted_.push_back(tries_.size());
        specs_.push_back(std::move(spec));
    }
    tries_.push_back(std::move(tried));
}

Candidates::Refusal Candidates::why_not(const model::AllocatorChoice& choice, model::AllocatorSpec& spec) const
{
    const auto library = sys::find_allocator_library(spec.name);
    if (!library) {
        return {"not_reached", library.error().message};
    }
    spec.library = *library;
    if (choice.allocator == "glibc" && program_.allocator != "glibc") {
        return {"inert", "the program does not use the malloc of the C library"};
    }
    if (choice.adds_thread && program_.changes_user) {
        return {"refused", "its thread of its own aborts a program that changes its user"};
    }
    if (choice.only == model::TryOnly::with_threads && program_.threads <= 1) {
        return {"not_reached", "it is about arenas, of which one thread uses one"};
    }
    if (choice.only == model::TryOnly::when_idle && question_.at != WantedAt::idle) {
        return {"not_reached", "it is about what happens while a program rests: ask with --want rss@idle=12s"};
    }
    if (choice.only == model::TryOnly::with_large_process && memory_ < large_process) {
        return {"not_reached", "it costs more than a small program could gain"};
    }
    if (const auto taken = sys::check_settings_taken(spec); !taken) {
        return {"inert", taken.error().message};
    }
    return {};
}

}  // namespace memsweep::app
