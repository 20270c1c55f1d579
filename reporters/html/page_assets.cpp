#include "reporters/html/page_assets.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include <sha2.h>

// CMake names the files and rebuilds this one when they change.
// NOLINTBEGIN(hicpp-no-assembler): the one way to put a file into a program that both compilers know
#define MEMSWEEP_EMBED(name, path)                                                                                     \
    asm(".pushsection .rodata\n"                                                                                       \
        ".global " #name "\n.global " #name "_end\n" #name ":\n"                                                       \
        ".incbin \"" path "\"\n" #name "_end:\n.byte 0\n"                                                              \
        ".popsection\n")
MEMSWEEP_EMBED(memsweep_chart_library, MEMSWEEP_CHART_LIBRARY);
MEMSWEEP_EMBED(memsweep_page_script, MEMSWEEP_PAGE_SCRIPT);
MEMSWEEP_EMBED(memsweep_flame_graph_script, MEMSWEEP_FLAME_GRAPH_SCRIPT);
MEMSWEEP_EMBED(memsweep_glossary, MEMSWEEP_GLOSSARY);
// NOLINTEND(hicpp-no-assembler)

extern "C" {
extern const char memsweep_chart_library[];           // NOLINT(*-avoid-c-arrays): labels of the assembler
extern const char memsweep_chart_library_end[];       // NOLINT(*-avoid-c-arrays)
extern const char memsweep_page_script[];             // NOLINT(*-avoid-c-arrays)
extern const char memsweep_page_script_end[];         // NOLINT(*-avoid-c-arrays)
extern const char memsweep_flame_graph_script[];      // NOLINT(*-avoid-c-arrays)
extern const char memsweep_flame_graph_script_end[];  // NOLINT(*-avoid-c-arrays)
extern const char memsweep_glossary[];                // NOLINT(*-avoid-c-arrays)
extern const char memsweep_glossary_end[];            // NOLINT(*-avoid-c-arrays)
}

namespace memsweep::reporters {
namespace {

std::string base64(const std::array<std::uint8_t, SHA256_DIGEST_LENGTH>& bytes)
{
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = bytes.size() - at < 3 ? bytes.size() - at : 3;
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            group = group << 8U | (i < count ? bytes[at + i] : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            text += i <= count ? digits[group >> (18U - 6U * i) & 63U] : '=';
        }
    }
    return text;
}

}  // namespace

std::string_view chart_library()
{
    return {memsweep_chart_library, static_cast<std::size_t>(memsweep_chart_library_end - memsweep_chart_library)};
}

std::string_view glossary()
{
    return {memsweep_glossary, static_cast<std::size_t>(memsweep_glossary_end - memsweep_glossary)};
}

std::string_view page_script()
{
    return {memsweep_page_script, static_cast<std::size_t>(memsweep_page_script_end - memsweep_page_script)};
}

std::string_view flame_graph_script()
{
    return {memsweep_flame_graph_script,
            static_cast<std::size_t>(memsweep_flame_graph_script_end - memsweep_flame_graph_script)};
}

std::string script_hash(std::string_view script)
{
    SHA2_CTX context;
    std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
    SHA256Init(&context);
    SHA256Update(&context, reinterpret_cast<const std::uint8_t*>(script.data()), script.size());
    SHA256Final(digest.data(), &context);
    return "sha256-" + base64(digest);
}

std::string_view style_sheet()
{
    return R"css(
:root { color-scheme: light; --page: #f4f6f8; --surface: #ffffff; --text: #1a2129; --muted: #55606d; --line: #d8dee6;
  --bar: #7aa7d9; --good: #17653a; --caution: #805200; --bad: #ae1f17; --focus: #0b5fad;
  --phase: #f1f4f8; --series-1: #1f5fa8; --series-2: #b3541e; --series-3: #2a7a4b; --series-4: #8a3fa0; --series-5: #a3324f;
  --series-6: #4d5b68; --series-7: #7a6a00; --series-8: #00757a;
  --m-live: #2a7a4b; --m-rounding: #71901a; --m-headers: #007d86; --m-holes: #c2650f; --m-kept_free: #b3261e;
  --m-never_a_block: #8a5a2b; --m-huge_zero: #cc3f86; --m-mapped_by_program: #7b46b3; --m-stacks: #a07c00;
  --m-bss: #3f6fb5; --m-private_copies: #6488c8; --m-files_program: #7b8896; --m-files_data: #4f6377;
  --m-shared: #0d86a5; --m-other: #3d3d3d; --m-recorder: #8c8c8c; }
@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark; --page: #11151a; --surface: #191f27;
  --text: #e5e9ee; --muted: #a4afbb; --line: #343e4a; --bar: #4f7fb5; --good: #74d096; --caution: #e6b65e; --bad: #ff968c;
  --focus: #86bdf3; --phase: #1f262f; --series-1: #6fb1f0; --series-2: #f0a068; --series-3: #6fd09a; --series-4: #cf9be6;
  --series-5: #f08ca6; --series-6: #b5c0cb; --series-7: #d8c65a; --series-8: #5fcfd4;
  --m-live: #58b980; --m-rounding: #a9c450; --m-headers: #3fbcc4; --m-holes: #f0a052; --m-kept_free: #f2736b;
  --m-never_a_block: #c79a6c; --m-huge_zero: #ee86ba; --m-mapped_by_program: #b78be6; --m-stacks: #dcb93f;
  --m-bss: #74a4ea; --m-private_copies: #9db8ea; --m-files_program: #97a4b3; --m-files_data: #7790a8;
  --m-shared: #4fc0de; --m-other: #e0e0e0; --m-recorder: #808890; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
header, main, footer { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2rem; }
header p { margin: 0; color: var(--muted); overflow-wrap: anywhere; }
h1 { margin: 0.1rem 0 0.25rem; font-size: 1.9rem; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 2.25rem 0 0.75rem; font-size: 1.25rem; overflow-wrap: anywhere; }
section.verdict { margin: 1.25rem 0; padding: 0.9rem 1.25rem; background: var(--surface); border: 1px solid var(--line);
  border-left: 5px solid var(--muted); border-radius: 6px; }
section.verdict h2 { margin: 0; font-size: 1.1rem; } section.verdict details { margin: 0.5rem 0 0; }
section.verdict ul { margin: 0.5rem 0 0; padding-left: 1.2rem; }
section.verdict li { margin: 0.2rem 0; overflow-wrap: anywhere; font-weight: 400; }
section.verdict li ul { margin: 0; list-style: none; padding-left: 0.8rem; }
section.verdict li:not([class]) ul { color: var(--muted); }
section.verdict.good { border-left-color: var(--good); }
section.verdict.caution { border-left-color: var(--caution); }
section.verdict.bad { border-left-color: var(--bad); }
.good { color: var(--good); } .caution { color: var(--caution); } .bad { color: var(--bad); font-weight: 600; }
section.verdict.good, section.verdict.caution, section.verdict.bad { color: var(--text); font-weight: inherit; }
.muted { color: var(--muted); } p.muted { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 0 0 1.25rem; background: var(--surface); border: 1px solid var(--line);
  border-radius: 6px; }
.scroll.tall { max-height: 24rem; overflow-y: auto; }
.scroll:focus-visible, summary:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { padding: 0.7rem 0.9rem 0.5rem; text-align: left; font-weight: 600; }
caption b { display: block; font-weight: inherit; }
caption span { display: block; color: var(--muted); font-weight: 400; font-size: 0.87rem; }
th, td { padding: 0.35rem 0.9rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
thead th { color: var(--muted); font-size: 0.87rem; font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: 600; }
th.num, td.num { text-align: right; }
tbody th, td.num { white-space: nowrap; }
td.wide { min-width: 14rem; }
td.bar { background: linear-gradient(var(--bar), var(--bar)) 0.9rem calc(100% - 1px) / calc((100% - 1.8rem) * var(--share)) 3px no-repeat; }
details { margin: 0 0 1rem; }
summary { cursor: pointer; padding: 0.25rem 0; font-weight: 600; overflow-wrap: anywhere; }
.pair { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
.pair .scroll { flex: 0 1 22rem; }
figure { margin: 0 0 1.25rem; padding: 0.7rem 0.9rem; background: var(--surface); border: 1px solid var(--line);
  border-radius: 6px; }
figcaption { margin-bottom: 0.6rem; overflow-wrap: anywhere; }
figcaption h3 { margin: 0; font-size: 1rem; } figcaption p { margin: 0; font-size: 0.87rem; }
figure .pair { margin-top: 0.5rem; } figure details { margin: 0.4rem 0 0; }
p.group { margin: 1.25rem 0 0.5rem; font-weight: 600; overflow-wrap: anywhere; }
.plot { overflow-x: auto; } .plot:empty { display: none; }
.plot svg { display: block; max-width: 100%; height: auto; touch-action: pan-y; }
.plot svg .role-axis-label text { paint-order: stroke; stroke: var(--surface); stroke-width: 4px; stroke-linejoin: round; }
.tip { position: fixed; z-index: 1; max-width: 22rem; padding: 0.35rem 0.6rem; background: var(--text); color: var(--page);
  border-radius: 4px; font-size: 0.87rem; pointer-events: none; overflow-wrap: anywhere; }
.tip[hidden] { display: none; } .tip span { opacity: 0.8; }
.zoom { margin: 0.3rem 0 0; color: var(--muted); font-size: 0.87rem; }
.zoom button { margin-right: 0.35rem; padding: 0.1rem 0.6rem; border: 1px solid var(--line); border-radius: 4px;
  background: var(--page); }
button { color: inherit; font: inherit; cursor: pointer; }
th button { padding: 0; border: 0; background: none; text-align: inherit; font-weight: inherit; }
th button::after { content: "\2195"; margin-left: 0.25em; opacity: 0.45; }
th[aria-sort] button::after { opacity: 1; content: "\2191"; } th[aria-sort="descending"] button::after { content: "\2193"; }
button:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
ul.plain { margin: 0; padding: 0; list-style: none; }
ul.plain li { padding: 0.6rem 0.9rem; background: var(--surface); border: 1px solid var(--line); border-radius: 6px;
  margin-bottom: 0.5rem; overflow-wrap: anywhere; }
ul.plain li p { margin: 0.15rem 0 0; }
ul.plain details { margin: 0.25rem 0 0; } ul.plain summary { font-weight: 400; }
dl { display: grid; grid-template-columns: minmax(9rem, max-content) 1fr; gap: 0.3rem 1.25rem; margin: 0; padding: 0.9rem;
  background: var(--surface); border: 1px solid var(--line); border-radius: 6px; }
dt { color: var(--muted); } dd { margin: 0; overflow-wrap: anywhere; }
code { font: 0.93em/1.5 ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", Menlo, monospace; }
.flame-controls { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; align-items: center; }
.flame-controls fieldset { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0; padding: 0.25rem 0.75rem;
  border: 1px solid var(--line); border-radius: 6px; }
.flame-controls legend { padding: 0 0.35rem; color: var(--muted); font-size: 0.87rem; }
.flame-controls button, .flame-controls input[type="search"] { padding: 0.2rem 0.6rem; border: 1px solid var(--line);
  border-radius: 4px; background: var(--surface); color: inherit; font: inherit; }
.flame-controls input:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
.flame-status { margin: 0.5rem 0; }
.flame-both { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
.flame-left { flex: 3 1 30rem; min-width: 0; }
.flame-graph { position: relative; overflow: hidden; background: var(--surface); border: 1px solid var(--line); border-radius: 6px; }
.flame-graph .frame { position: absolute; height: 22px; padding: 0 3px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis;
  font-size: 12px; line-height: 21px; border: 1px solid var(--surface); border-width: 0 1px 1px 0; cursor: pointer;
  background: var(--phase); color: var(--text); }
.frame[data-tone="1"] { background: color-mix(in srgb, var(--series-1) 22%, var(--surface)); }
.frame[data-tone="2"] { background: color-mix(in srgb, var(--series-2) 22%, var(--surface)); }
.frame[data-tone="3"] { background: color-mix(in srgb, var(--series-3) 22%, var(--surface)); }
.frame[data-tone="4"] { background: color-mix(in srgb, var(--series-4) 22%, var(--surface)); }
.frame[data-tone="5"] { background: color-mix(in srgb, var(--series-7) 22%, var(--surface)); }
.frame.above { background: var(--page); color: var(--muted); }
.frame.hit { background: var(--text); color: var(--page); }
.frame:focus-visible { outline: 2px solid var(--focus); outline-offset: -2px; }
.flame-about { min-height: 3em; margin: 0.5rem 0; overflow-wrap: anywhere; }
.flame-table { flex: 2 1 20rem; min-width: 0; max-height: 40rem; overflow: auto; background: var(--surface); border: 1px solid var(--line);
  border-radius: 6px; }
.flame-table tbody th { white-space: normal; overflow-wrap: anywhere; font-weight: 400; } .flame-table td { text-align: right; white-space: nowrap; }
.flame-table th button::after { content: none; }
section.memory { margin: 1.25rem 0; } section.memory h2 { margin: 0 0 0.25rem; } section.memory > p { margin: 0 0 0.6rem; }
section.memory i { display: block; print-color-adjust: exact; }
.memory-bar { display: flex; gap: 1px; height: 2.4rem; overflow: hidden; border-radius: 6px; }
.memory-bar i { flex: 0 1 0; min-width: 2px; }
.memory-legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.25rem; margin: 0.6rem 0 1.25rem; padding: 0; list-style: none; }
.memory-legend span { white-space: nowrap; }
section.memory .memory-key { display: inline-block; width: 0.8em; height: 0.8em; margin-right: 0.4em; border-radius: 2px; }
.memory-strips { margin: 0 0 0.75rem; padding: 0.4rem 0.9rem; list-style: none; background: var(--surface); border: 1px solid var(--line);
  border-radius: 6px; }
.memory-strips li { position: relative; padding: 0.2rem 0.35rem; border-radius: 4px; }
.memory-strips li:hover { background: var(--phase); } .memory-strips li.memory-gap { font-size: 0.8rem; background: none; }
.memory-strips li:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; }
@media (min-width: 60rem) { .memory-strips li:not(.memory-gap) { display: grid; grid-template-columns: 27rem 1fr; gap: 0 0.75rem; } }
.memory-name { margin: 0; font-size: 0.87rem; overflow-wrap: anywhere; }
.memory-cells { display: flex; flex-wrap: wrap; gap: 1px; padding: 1px 0; }
.memory-cells i { width: 8px; height: 14px; background-color: var(--line); }
.memory-cells b { width: 5px; height: 14px; border-left: 1px dashed var(--muted); margin-left: 4px; }
.memory-about { position: absolute; left: 0.35rem; top: 100%; z-index: 1; max-width: min(36rem, 92%); margin: 0; padding: 0.35rem 0.6rem;
  background: var(--text); color: var(--page); border-radius: 4px; font-size: 0.87rem; overflow-wrap: anywhere; pointer-events: none; }
.memory-strips li:not(:hover, :focus) .memory-about { width: 1px; height: 1px; padding: 0; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
section.memory .m-live { background-color: var(--m-live); }
section.memory .m-rounding { background-color: var(--m-rounding); }
section.memory .m-headers { background-color: var(--m-headers); }
section.memory .m-holes { background: repeating-linear-gradient(45deg, var(--m-holes) 0 4px,
  color-mix(in srgb, var(--m-holes) 70%, var(--surface)) 4px 6px); }
section.memory .m-kept_free { background: repeating-linear-gradient(-45deg, var(--m-kept_free) 0 4px,
  color-mix(in srgb, var(--m-kept_free) 70%, var(--surface)) 4px 6px); }
section.memory .m-never_a_block { background-color: var(--m-never_a_block); }
section.memory .m-huge_zero { background: repeating-linear-gradient(90deg, var(--m-huge_zero) 0 4px,
  color-mix(in srgb, var(--m-huge_zero) 70%, var(--surface)) 4px 6px); }
section.memory .m-mapped_by_program { background-color: var(--m-mapped_by_program); }
section.memory .m-stacks { background-color: var(--m-stacks); }
section.memory .m-bss { background-color: var(--m-bss); }
section.memory .m-private_copies { background-color: var(--m-private_copies); }
section.memory .m-files_program { background-color: var(--m-files_program); }
section.memory .m-files_data { background-color: var(--m-files_data); }
section.memory .m-shared { background-color: var(--m-shared); }
section.memory .m-other { background-color: var(--m-other); }
section.memory .m-recorder { background-color: var(--m-recorder); }
footer { padding-top: 1.5rem; padding-bottom: 2rem; color: var(--muted); font-size: 0.87rem; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.5rem; }
  h1 { font-size: 1.4rem; } th, td { padding-left: 0.5rem; padding-right: 0.5rem; }
  tbody th { white-space: normal; overflow-wrap: break-word; max-width: 12rem; }
  caption > * { position: sticky; left: 0.9rem; width: calc(100vw - 4.5rem); overflow-wrap: anywhere; } }
@media print { body { background: #fff; font-size: 10pt; } table { font-size: 8pt; }
  th, td { padding: 0.2rem 0.4rem; } tbody th, td.num { white-space: normal; } th, td { overflow-wrap: anywhere; }
  .scroll { overflow: visible; max-height: none; border: 0; }
  header, main, footer { max-width: none; padding-left: 0; padding-right: 0; } tr, li { break-inside: avoid; }
  thead { display: table-header-group; } figure { border: 0; padding: 0; break-inside: avoid; }
  .zoom, .tip, .memory-about, th button::after, details.long { display: none; } td.bar { print-color-adjust: exact; } }
)css";
}

}  // namespace memsweep::reporters
