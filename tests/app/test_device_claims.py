"""What the documents say of CUDA devices: every row of the tables of docs/probe.md is computed again from the committed result
that it names, and no other sentence of the documents has a figure of such a device."""
import csv
import json
import os
import re
import statistics
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

    def test_no_other_sentence_has_a_figure_of_such_a_device(self):
        unit = r"\d[\d.,]* ?(?:[kMGT]?i?B/s|us|ns|ms|times|%)"
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
            for paragraph in re.split(r"\n\s*\n", path.read_text()):
                if "<!-- computed: " in paragraph or not re.search(r"\bH[12]00s?\b", paragraph):
                    continue
                named = re.search(r"results/reference|gpu_h[12]00", paragraph)
                self.assertTrue(named or not re.search(unit, paragraph), f"{path.name}: a figure without its file: {paragraph}")


if __name__ == "__main__":
    for name, rows in TABLES.items():
        print(name, *("| " + " | ".join(cells) + " |" for cells in rows()), sep="\n")
