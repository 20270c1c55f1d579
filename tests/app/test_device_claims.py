"""What the documents say of CUDA devices: every row of the tables of docs/probe.md, the table of settings and every sentence with
a figure is computed again from the committed result that it comes from, and no other sentence has a figure of such a device. The
limits of cards that ship are what the same results give."""
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(os.environ["MEMSWEEP_SOURCE"])
REFERENCE = ROOT / "results/reference"


def rows_of(path):
    with open(REFERENCE / path, newline="") as file:
        return list(csv.DictReader(file))


def beside(card, file="gpu_beside.csv"):
    """The rates of each round: {transfer: {round: {program: value}}}."""
    rounds = {}
    for row in rows_of(f"{card}/{file}"):
        rounds.setdefault(row["transfer"], {}).setdefault(row["round"], {})[row["program"]] = float(row["value"])
    return rounds


def paired(pairs):
    """Both medians of pairs of figures, and of their ratios the median, least and most."""
    ratios = sorted(ours / theirs for ours, theirs in pairs)
    return statistics.median(ours for ours, _ in pairs), statistics.median(ratios), ratios


def beside_rows():
    """Transfers beside nvbandwidth: medians, and of the ratios of the rounds the median and what all but the outermost span."""
    named = {"host_to_device_memcpy_ce": "pinned memory to the device", "device_to_host_memcpy_ce": "the device to pinned memory",
             "host_to_device_memcpy_sm": "the first by a kernel", "device_to_host_memcpy_sm": "the second by a kernel",
             "device_local_copy": "within the device", "host_device_latency_sm": "a kernel's load of host memory"}
    defaults = {}
    for row in rows_of("gpu_h200/gpu_beside_defaults.csv"):
        defaults.setdefault(row["transfer"], []).append((float(row["memsweep"]), float(row["nvbandwidth"])))
    for transfer, name in named.items():
        unit = "ns" if "latency" in transfer else "GB/s"
        cells = [f"{name} (`{transfer}`)"]
        for card in ("gpu_h100", "gpu_h200"):
            ours, ratio, _ = paired([(one["memsweep"], one["nvbandwidth"]) for one in beside(card)[transfer].values()
                                     if {"memsweep", "nvbandwidth"} <= one.keys()])
            cells.append(f"{ours:.1f} {unit}, {ratio:.4f}")
        ours, ratio, ratios = paired(defaults[transfer])
        cells.append(f"{ours:.1f} {unit}, {ratio:.4f} ({ratios[1]:.4f} to {ratios[-2]:.4f})")
        yield cells


def probed(card):
    with open(REFERENCE / card / "gpu_probe.json") as file:
        return {case["params"]["transfer"]: case["metrics"] for case in json.load(file)["cases"]
                if case["status"] == "ok" and "transfer" in case["params"]}


def probe_rows():
    """Figures of the whole probe; of latencies the least of the samples."""
    cards = [probed("gpu_h100"), probed("gpu_h200"), probed("gpu_h200_later")]
    for name, transfer in (("a kernel's load of its device's memory", "device_local_latency_sm"),
                           ("a kernel's load of its device's last cache", "device_l2_latency_sm"),
                           ("a kernel launched and waited for", "kernel_launch_latency"),
                           ("4 bytes there and back", "host_device_round_trip_4B_ce")):
        yield [f"{name} (`{transfer}`)", *(f"{card[transfer]['latency']['summary']['min'] * 1e9:,.0f} ns" for card in cards)]
    for name, transfer in (("managed memory moved on demand", "host_to_device_managed"),
                           ("managed memory moved beforehand", "host_to_device_managed_prefetch"),
                           ("ordinary memory to the device by the driver", "host_to_device_pageable"),
                           ("the device to ordinary memory by the driver", "device_to_host_pageable")):
        yield [f"{name} (`{transfer}`)", *(f"{card[transfer]['bandwidth']['summary']['median'] / 1e9:.1f} GB/s" for card in cards)]


def staging_rows():
    """What a transfer of ordinary memory takes through our rings and by the driver, of one size, kind of page and number in a row."""
    times = {}
    for row in rows_of("gpu_h200/staging_by_size.csv"):
        if row["metric"] == "time_per_transfer":
            size, count, way = (part.split("=")[1] for part in row["params"].split("/"))
            times.setdefault((row["scenario"].endswith("_back"), size, count, way), float(row["median"]))  # the first series
    for size in ("64KiB", "512KiB", "1MiB", "2MiB", "4MiB", "16MiB", "64MiB"):
        cells = [size.replace("iB", " iB").replace("K iB", " KiB").replace("M iB", " MiB")]
        for back in (False, True):
            for count in ("5", "40"):
                ours, driver = times[back, size, count, "staged"], times[back, size, count, "direct"]
                cells.append(f"{ours * 1e6:,.0f} and {driver * 1e6:,.0f} us, {driver / ours:.2f} times")
        yield cells


def memory_of(card):
    with open(REFERENCE / card / "gpu_driver_memory.json") as file:
        return {tuple(case["params"][key] for key in ("resource", "size", "pool")): case["metrics"]["time_per_op"]["summary"]["median"]
                for case in json.load(file)["cases"] if case["status"] == "ok"}


def memory_rows():
    """An array made and dropped a hundred times in a row; with a pool above, one of them is a call of the driver."""
    cards = [memory_of("gpu_h100"), memory_of("gpu_h200_later")]
    text = {1 << 16: "64 KiB", 1 << 20: "1 MiB", 1 << 24: "16 MiB", "64KiB": "64 KiB", "1MiB": "1 MiB", "16MiB": "16 MiB"}
    for resource, name in (("pinned", "pinned host memory"), ("device", "the device's memory")):
        for size in sorted({size for _, size, _ in cards[0]}, key=lambda size: list(text).index(size)):
            yield [f"{text[size]} of {name}", *(f"{card[resource, size, 'none'] * 1e6:,.1f} us, {card[resource, size, 'classes'] * 1e6:,.2f} us"
                                                for card in cards)]


def queue_rows():
    """What several streams do at once beside nvbandwidth, in six rounds."""
    named = {"host_to_device_bidirectional_memcpy_ce": "to the device while the other direction is busy",
             "device_to_host_bidirectional_memcpy_ce": "from the device while the other direction is busy",
             "all_to_host_memcpy_ce": "all devices, of one, to the host", "host_to_all_memcpy_ce": "the host to all devices, of one",
             "all_to_host_bidirectional_memcpy_ce": "the first while the other direction is busy",
             "host_to_all_bidirectional_memcpy_ce": "the second while the other direction is busy",
             "host_to_device_bidirectional_memcpy_sm": "to the device by a kernel, another kernel moving the other way",
             "device_to_host_bidirectional_memcpy_sm": "from the device by a kernel, another kernel moving the other way"}
    rounds = beside("gpu_h200_later", "gpu_queues.csv")
    for transfer, name in named.items():
        pairs = [(one["memsweep"], one["nvbandwidth"]) for one in rounds[transfer].values()]
        ours, ratio, ratios = paired(pairs)
        yield [f"{name} (`{transfer}`)", f"{ours:.1f} GB/s", f"{statistics.median(theirs for _, theirs in pairs):.1f} GB/s",
               f"{ratio:.4f} ({ratios[0]:.4f} to {ratios[-1]:.4f})"]


def limit_rows():
    """Rings of pinned slots by hand, 64 MiB of ordinary memory in pages of 4 KiB, beside our own, whose pages are huge."""
    best = {}
    for row in rows_of("gpu_h200_later/staging_limit.csv"):
        if row["bytes"] == str(64 << 20):
            key = row["direction"], row["threads"] if row["way"] == "ring" else "driver"
            best[key] = max(best.get(key, 0), float(row["GB_per_s"]))
    staged = probed("gpu_h200_later")
    for direction, transfer, name in (("to_device", "host_to_device_staged", "to the device"), ("from_device", "device_to_host_staged", "from it")):
        yield [name, *(f"{best[direction, way]:.1f} GB/s" for way in ("driver", "1", "4", "8", "12")),
               f"{staged[transfer]['bandwidth']['summary']['median'] / 1e9:.1f} GB/s"]


TABLES = {"queues": queue_rows, "limit": limit_rows, "beside": beside_rows, "probe": probe_rows, "staging": staging_rows, "memory": memory_rows}


def settings_runs():
    with open(REFERENCE / "gpu_h200/pytorch_settings.json") as file:
        return json.load(file)["runs"]


def settings_rows():
    """What PyTorch reserved under each setting, in MiB, and what was predicted where that differs."""
    runs = settings_runs()
    models = ("mlp", "transformer", "cnn", "kvcache", "streams")
    for name in dict.fromkeys(run["name"] for run in runs):
        cells = []
        for model in models:
            (run,) = (run for run in runs if (run["model"], run["name"]) == (model, name))
            card, predicted = (run[side]["reserved"] >> 20 for side in ("card", "predicted"))
            cells.append(f"{card:,}" + ("" if card == predicted else f", predicted {predicted:,}") + (" refused" if run["card"]["refused"] else "") +
                         (", goes on" if run["card"]["refused"] and not run["card"]["ended_by"] else ""))
        yield cells


def exactly_predicted():
    """Runs that reserved what was predicted, all of them, and by how many MiB the others differed."""
    runs = settings_runs()
    off = [run["card"]["reserved"] - run["predicted"]["reserved"] for run in runs]
    refused = sum(bool(run["card"]["refused"]) == bool(run["predicted"]["first_failure"]) for run in runs)
    return {"exact": off.count(0), "all": len(runs), "more": ", ".join(f"{one / 2**20:.0f}" for one in off if one), "refused": refused}


def slower_loads():
    """How much longer a load of the host's memory takes than nvbandwidth's: the least and the most of the columns, in percent."""
    row = next(row for row in beside_rows() if "host_device_latency_sm" in row[0])
    ratios = [float(re.search(r", (1\.\d+)", cell)[1]) for cell in row[1:]]
    return {"least": f"{(min(ratios) - 1) * 100:.0f}", "most": f"{(max(ratios) - 1) * 100:.0f}"}


def slower_rings():
    """Of sizes below the threshold: the worst ratio of our rings to the driver, and its size."""
    worst = min((float(times), row[0]) for row in staging_rows() for times in re.findall(r"us, ([\d.]+) times", " ".join(row[1:])))
    return {"times": f"{1 / worst[0]:.1f}", "size": worst[1]}


WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
CARDS = ("gpu_h100", "gpu_h200", "gpu_h200_later")


def machines():
    """Which cards have run, on what machines: one answer for all of them, or none."""
    texts = [(REFERENCE / card / "gpu_probe.json").read_text() for card in CARDS]
    one = {name: set(re.findall(pattern, "".join(texts))) for name, pattern in
           (("link", r'"PCIe (\d) x\d+'), ("driver", r'"driver_version": "(\d+)\.'), ("processors", r'"cores": (\d+)'))}
    found = {name: "/".join(sorted(values)) for name, values in one.items()}
    kinds = list(dict.fromkeys(re.search(r"gpu0: NVIDIA (\w+)", text)[1] for text in texts))
    return found | {"first": kinds[0], "second": kinds[1], "kinds": WORDS[len(kinds)]}


def rounds_beside():
    """How many rounds the tables beside nvbandwidth are of, and which nvbandwidth."""
    count = {len({row["round"] for row in rows_of(f"{file}.csv")})
             for file in ("gpu_h200/gpu_beside_defaults", "gpu_h200_later/gpu_queues")}
    version = re.search(r"beside nvbandwidth ([\d.]+) and the reference", (REFERENCE / "README.md").read_text())[1]
    return {"queues": WORDS[min(count)], "defaults": WORDS[max(count)], "version": version}


def drivers():
    """What the program itself says of drivers that are too old."""
    text = (ROOT / "core/device/cuda/devices.cpp").read_text()
    newer, older = re.search(r"runtime >= cuda_13 \? (\d+) : (\d+)", text).groups()
    return {"driver": newer, "older_driver": older, "major": re.search(r"cuda_13 = (\d+)000;", text)[1],
            "older": re.search(r"a toolkit of CUDA (\d+) takes", text)[1]}


def asked_of_a_gpu():
    """What the steps of the kit ask of figures."""
    text = (ROOT / "scripts/gpu_figures.awk").read_text()
    within, copies = re.search(r"nvbandwidth\" \? ([\d.]+) : 0", text)[1], re.search(r"device_to_host_memcpy_ce\" \? ([\d.]+) : 0", text)[1]
    return {"within": within, "copies": copies, "staging": re.search(r"verdict\(ours / theirs, ([\d.]+)\)", text)[1]}


# In which document which sentence stands, with what is computed for it.
SENTENCES = [("CHANGELOG.md", "On an H200, {exact} of {all} runs reserved exactly what was predicted, the other {more} MiB more", exactly_predicted),
             ("docs/trace-commands.md", "reserved exactly what was predicted in {exact} of {all} runs, and {more} MiB more in one. Whether a request was "
              "refused was right in all {refused}", exactly_predicted),
             ("README.md", "The CUDA support has run on one {first} and one {second}; its figures were compared there with those of NVIDIA's nvbandwidth", machines),
             ("docs/probe.md", "has run on {kinds} kinds of machine so far, an {first} and an {second} (each PCI Express {link}, {processors} "
              "processors of a Xeon, driver {driver})", machines),
             ("docs/probe.md", "Beside nvbandwidth {version}, in turns", rounds_beside),
             ("docs/probe.md", "`-b 256`, {defaults} rounds, with what all but the outermost ratios span", rounds_beside),
             ("docs/probe.md", "Several streams at once on one H200, {queues} rounds beside nvbandwidth", rounds_beside),
             ("docs/probe.md", "built with a toolkit of CUDA {major} it needs a driver of {driver} or newer; CMake takes a toolkit of CUDA {older} "
              "too, whose programs run from driver {older_driver} on", drivers),
             ("docs/probe.md", "Of the machine it needs a driver ({driver} or newer), nvidia-smi", drivers),
             ("docs/probe.md", "H2D and D2H by copy engine {copies} or more, copies within the device {within} of nvbandwidth's", asked_of_a_gpu),
             ("docs/probe.md", "carries 64 MiB of ordinary memory at {staging} times the rate or more", asked_of_a_gpu),
             ("docs/probe.md", "A load of the host's memory is {least} to {most} % slower than nvbandwidth's", slower_loads),
             ("docs/probe.md", "rings are slower, up to {times} times, so there the driver copies; {size} are the worst size", slower_rings)]
FIGURE = re.compile(r"\d[\d.,]* ?(?:[kMGTK]?i?B(?:/s)?\b|[mun]?s\b|times|%|(?:of|to) \d)")
# Not of a run: sizes that were asked for, versions, what was lent.
NO_RESULT = re.compile(r"512 MiB and samples of 150 ms|Below 4 MiB|64 MiB of ordinary memory in pages of 4 KiB|chunks of 2 MiB|huge pages, 256 MiB back|"
                       r"\d+ MiB and more|64, 256 and 512 MiB|of 4 KiB|PCI Express 5, 16 processors|after 560 s")
OF_A_CARD = re.compile(r"\bH[12]00s?\b|nvbandwidth|\bCUDA\b|\bNVIDIA\b|\bNVLinks?\b|\bGPUs?\b")


def documents():
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def plain(text):
    return re.sub(r"\s+", " ", text)


class DeviceClaims(unittest.TestCase):
    def test_every_row_is_what_its_file_says(self):
        text = (ROOT / "docs/probe.md").read_text()
        for name, rows in TABLES.items():
            with self.subTest(table=name):
                table = re.search(rf"<!-- computed: {name} -->\n(.*?)\n\n", text, re.S)
                self.assertIsNotNone(table, f"docs/probe.md has no table marked {name}")
                expected = ["| " + " | ".join(cells) + " |" for cells in rows()]
                self.assertGreater(len(expected), 1)
                self.assertEqual(table[1].splitlines()[2:], expected)

    def test_the_table_of_settings_is_what_its_file_says(self):
        text = (REFERENCE / "README.md").read_text()
        rows = re.search(r"\| settings \| mlp .*?\n\n", text, re.S)[0].splitlines()[2:]
        self.assertEqual([[cell.strip() for cell in row.split("|")[2:-1]] for row in rows if row], list(settings_rows()))

    def test_every_sentence_is_what_its_file_says(self):
        for document, sentence, compute in SENTENCES:
            with self.subTest(document=document, sentence=sentence):
                self.assertIn(sentence.format(**compute()), plain((ROOT / document).read_text()))

    def uncovered(self, document, text):
        """Paragraphs and list items about such a card with a figure that no table and no sentence above computes."""
        for paragraph in re.split(r"\n\s*\n|\n(?=- |  - |\| )", text):
            if "<!-- computed: " in paragraph or paragraph.startswith(("| ", "```")) or not OF_A_CARD.search(paragraph):
                continue
            rest = plain(paragraph)
            for name, sentence, compute in SENTENCES:
                if name == document:
                    rest = rest.replace(sentence.format(**compute()), "")
            if FIGURE.search(NO_RESULT.sub("", rest)):
                yield rest

    def test_no_other_sentence_has_a_figure_of_such_a_device(self):
        for path in documents():
            document = str(path.relative_to(ROOT))
            self.assertEqual(list(self.uncovered(document, path.read_text())), [], document)

    def test_a_figure_that_is_changed_or_added_is_found(self):
        for document, sentence, compute in SENTENCES:
            text = plain((ROOT / document).read_text())
            right = sentence.format(**compute())
            wrong = re.sub(r"\d+", lambda match: str(int(match[0]) + 1), right, count=1)
            self.assertNotEqual(right, wrong)
            self.assertNotIn(right, text.replace(right, wrong))
        for planted in ("On an H100 this takes 3.2 us.", "memsweep is 1.4 times as fast as nvbandwidth.", "H200: 12 of 13 runs were right.",
                        "CUDA's copy takes 7 us.", "Two GPUs with an NVLink reach 380 GB/s."):
            self.assertEqual(list(self.uncovered("README.md", planted)), [planted])

    def test_cards_and_files_that_are_named_are_there(self):
        cards = {machines()["first"], machines()["second"]}
        for path in documents():
            text = path.read_text()
            with self.subTest(document=path.name):
                self.assertLessEqual(set(re.findall(r"\b([HABL]\d{3})s?\b", text)), cards)
                for name in re.findall(r"\b(gpu_h\d+(?:_\w+)?(?:/[\w.]+)?)", text):
                    self.assertTrue((REFERENCE / name).exists(), name)

    def test_claims_about_devices_name_what_they_come_from(self):
        for path in documents():
            for paragraph in re.split(r"\n\s*\n", path.read_text()):
                if path.name != "CHANGELOG.md" and re.search(r"\bH[12]00s?\b", paragraph) and "<!-- computed: " not in paragraph:
                    self.assertRegex(paragraph, r"results/reference|gpu_h[12]00|#what-a-gpu-has-run|memsweep |```|^\| ", path.name)

    def test_the_limits_of_cards_are_what_the_results_give(self):
        done = subprocess.run([sys.executable, ROOT / "scripts/gpu_limits.py", "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for card, results in (("h100", ["gpu_h100"]), ("h200", ["gpu_h200", "gpu_h200_later"])):
            for folder in results:
                done = subprocess.run([os.environ["MEMSWEEP"], "report", REFERENCE / folder / "gpu_probe.json", "--limits", card],
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)
                self.assertRegex(plain(done.stdout), r"All \d+ limits hold; of those that hold the nearest is [\d.]+ % away")


if __name__ == "__main__":
    for name, rows in TABLES.items():
        print(name, *("| " + " | ".join(cells) + " |" for cells in rows()), sep="\n")
