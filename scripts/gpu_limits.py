#!/usr/bin/env python3
"""Writes the limits of each kind of card from the committed results of such cards: configs/limits/NAME.json.

    scripts/gpu_limits.py [--check]

A limit is what the worst of the committed probes of that kind reached, less (or more) MARGIN. What a card and its own link do
fails the probe where it is violated. What depends as much on the machine around the card (ordinary and managed memory, calls
of the driver) is only warned of. A card of the same kind in a slower slot is told by its limits, which is what they are for.

--check writes nothing: exit code 1 where a file is not what the results give.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "results/reference"
MARGIN = 0.10
CARDS = {"h100": ("NVIDIA H100 80GB HBM3", ["gpu_h100/gpu_probe.json"]),
         "h200": ("NVIDIA H200", ["gpu_h200/gpu_probe.json", "gpu_h200_later/gpu_probe.json"])}
OF_THE_CARD = {"host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "host_to_device_memcpy_sm", "device_to_host_memcpy_sm",
               "host_to_device_mapped", "device_to_host_mapped", "host_to_device_write_combined", "device_local_copy",
               "device_local_copy_sm", "device_local_latency_sm", "device_l2_latency_sm"}
# Streams that disturb each other vary from sample to sample; what fewer than all probes of a kind have measured is left out too.
LEFT_OUT = ("bidirectional", "all_to_", "host_to_all", "_to_all", "host_register_cost")
METRICS = (("bandwidth", "median", ">=", min, 1 - MARGIN), ("latency", "min", "<=", max, 1 + MARGIN))


def measured(path, name):
    """{(transfer, metric): figure}, as reports show them: of a latency the least sample."""
    with open(REFERENCE / path) as file:
        result = json.load(file)
    assert name in json.dumps(result["machine"]["devices"]), f"{path} is not of an {name}"
    figures = {}
    for case in result["cases"]:
        if case["scenario"] != "probe_device" or case["status"] != "ok" or any(word in case["params"]["transfer"] for word in LEFT_OUT):
            continue
        for metric, statistic, *_ in METRICS:
            if metric in case["metrics"]:
                figures[case["params"]["transfer"], metric] = case["metrics"][metric]["summary"][statistic]
    return figures


def text_of(metric, value):
    """Four digits, rounded to the side on which the limit holds for what was measured."""
    scales = (("GB/s", 1e9),) if metric == "bandwidth" else (("us", 1e-6), ("ns", 1e-9))
    unit, scale = next(((unit, scale) for unit, scale in scales if value >= scale), scales[-1])
    digits = max(0, 3 - len(str(int(value / scale))) + 1)
    step = 10 ** -digits
    number = int(value / scale / step) * step + (step if metric == "latency" else 0)
    return f"{number:.{digits}f}{unit}"


def limits_of(card):
    name, paths = CARDS[card]
    probes = [measured(path, name) for path in paths]
    limits = []
    for transfer, metric in probes[0]:
        if not all((transfer, metric) in probe for probe in probes):
            continue
        _, statistic, sign, worst, factor = next(row for row in METRICS if row[0] == metric)
        bound = worst(probe[transfer, metric] for probe in probes) * factor
        limit = {"scenario": "probe_device", "where": {"transfer": transfer}, "expr": f"{metric}.{statistic} {sign} {text_of(metric, bound)}"}
        if transfer not in OF_THE_CARD:
            limit["severity"] = "warn"
        limits.append(limit)
    sources = ", ".join(f"results/reference/{path}" for path in paths)
    head = {"$schema": "../../scenarios/schema/memsweep-limits-1.schema.json", "format": "memsweep-limits", "version": 1,
            "description": f"What the worst measured {name} reached, within {MARGIN:.0%}; from {sources}."}
    lines = ",\n".join(f"  {json.dumps(limit)}" for limit in limits)
    return json.dumps(head, indent=1)[:-2] + f',\n "limits": [\n{lines}\n ]\n}}\n'


def main():
    stale = []
    for card in CARDS:
        path = ROOT / f"configs/limits/{card}.json"
        text = limits_of(card)
        if "--check" not in sys.argv[1:]:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(str(path.relative_to(ROOT)))
    if stale:
        print(f"{', '.join(stale)}: not what the results give; scripts/gpu_limits.py writes them", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
