#include "scenarios/reader/include.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/quote.hpp"
#include "scenarios/reader/text_check.hpp"

namespace memsweep::scenarios {
namespace {

class Includer {
  public:
    Includer(Sources& sources, const Reading& reading) : sources_{sources}, reading_{reading} {}

    void follow(const Node& file, const std::string& path)
    {
        const Object* object = file.as<Object>();
        const Node* include = object == nullptr ? nullptr : find(*object, "include");
        if (include == nullptr) {
            return;
        }
        chain_.push_back(path);
        if (const List* list = include->as<List>()) {
            std::for_each(list->begin(), list->end(), [&](const Node& item) { add(item, path); });
        } else {
            add(*include, path);
        }
        chain_.pop_back();
    }

    std::vector<const Node*> layers;

  private:
    void add(const Node& item, const std::string& includer)
    {
        const auto* relative = item.as<std::string>();
        if (relative == nullptr || relative->empty() || relative->size() > 4096 || find_bad_byte(*relative)) {
            complain(item, fmt::format("\"include\" must be a path or a list of paths, not {}", describe(item)));
            return;
        }
        const std::filesystem::path wanted{*relative};
        if (wanted.is_absolute()) {
            complain(item, fmt::format("{} must be relative to this file", in_quotes(*relative)));
            return;
        }
        open(item, (std::filesystem::path{includer}.parent_path() / wanted).lexically_normal().string());
    }

    void open(const Node& item, const std::string& path)
    {
        if (std::find(chain_.begin(), chain_.end(), path) != chain_.end()) {
            complain(item, fmt::format("{} includes itself", in_quotes(path)));
            return;
        }
        if (chain_.size() > max_include_depth || sources_.files() >= max_files) {
            complain(item,
                     fmt::format("includes deeper than {} levels or more than {} files", max_include_depth, max_files));
            return;
        }
        const auto text = reading_.scope.surroundings.read_file(path);
        if (!text) {
            complain(item, fmt::format("cannot include {}: {}", in_quotes(path), text.error().message));
            return;
        }
        if (const Node* file = sources_.add(path, *text)) {
            follow(*file, path);
            layers.push_back(file);
        }
    }

    void complain(const Node& item, std::string message) { reading_.diagnostics.add(item.place, std::move(message)); }

    Sources& sources_;
    Reading reading_;
    std::vector<std::string> chain_;
};

}  // namespace

std::vector<const Node*> included_settings(const Node& top, const std::string& path, Sources& sources,
                                           const Reading& reading)
{
    Includer includer{sources, reading};
    includer.follow(top, std::filesystem::path{path}.lexically_normal().string());
    return std::move(includer.layers);
}

}  // namespace memsweep::scenarios
