"""Results of many invented nodes, made from what one machine measured.

Every node's figure is the measured median, times a factor of the node, times the measured scatter: repetitions are drawn
from those measured, and the nodes' factors have the spread that the measured medians show between runs, or 1.5 % if that
is more. A bad node has one of four faults that clusters know: a memory channel down, a slow clock, a failing link of one
kernel only, or memory far away.
"""

import copy
import json
import math
import random
import statistics

FAULTS = {  # which cases and metrics, and by how much they are worse
    "channel": (lambda case: "bandwidth" in case, "bandwidth", 0.62),
    "clock": (lambda case: True, None, 0.72),
    "kernel": (lambda case: "kernel=copy" in case or "kernel=triad" in case, "bandwidth", 0.55),
    "far": (lambda case: "latency" in case, "latency", 1.7),
}
LEAST_SPREAD = 0.015


def summary(values):
    middle = statistics.median(values)
    return {"n": len(values), "min": min(values), "max": max(values), "mean": statistics.fmean(values), "median": middle,
            "mad": statistics.median([abs(value - middle) for value in values]), "mdape": None,
            "stddev": statistics.stdev(values) if len(values) > 1 else None, "ci95": None, "p05": None, "p95": None, "outliers": 0}


def bounded(values, most):
    """No further from their median than a share of it: a machine that was disturbed while it measured must not decide a test."""
    middle = statistics.median(values)
    return [min(max(value, middle * (1 - most)), middle * (1 + most)) for value in values] if most else values


def spreads(results):
    """By case and metric: how far the medians of several measured runs lie apart, as a standard deviation of their logarithms."""
    medians = {}
    for result in results:
        for case in result["cases"]:
            for name, metric in case["metrics"].items():
                if metric["summary"] and metric["summary"]["median"] > 0:
                    medians.setdefault((case["id"], name), []).append(math.log(metric["summary"]["median"]))
    return {key: max(LEAST_SPREAD, statistics.stdev(values)) if len(values) > 1 else LEAST_SPREAD for key, values in medians.items()}


class Fleet:
    def __init__(self, results, hosts, bad, generator=None, most_scatter=None):
        self.generator = generator or random.Random(7)
        self.template = copy.deepcopy(results[0])
        self.template["cases"] = [case for case in self.template["cases"] if case["status"] == "ok" and case["metrics"]]
        self.most_scatter = most_scatter
        self.spread = {key: min(spread, most_scatter or spread) for key, spread in spreads(results).items()}
        self.hosts = [f"n{number:05}" for number in range(1, hosts + 1)]
        self.bad = dict(zip(self.generator.sample(self.hosts, bad), sorted(FAULTS) * bad))

    def result(self, host):
        draw = self.generator
        node = self.hosts.index(host) if len(self.hosts) < 500 else int(host[1:]) - 1
        result = copy.copy(self.template)
        result["run"] = dict(result["run"], id=f"{result['run']['id']}-{host}", tags={"rack": f"r{node // 40:03}"}, exit_code=0)
        result["run"]["placement"] = {"node": host, "launcher": "slurm", "job": "1", "nodes": f"n[00001-{len(self.hosts):05}]", "rank": node}
        result["machine"] = dict(result["machine"], host=host)
        result["assertions"], result["warnings"] = [], []
        result["cases"] = [self.case(case, host, draw) for case in self.template["cases"]]
        return result

    def case(self, case, host, draw):
        case = dict(case, metrics=dict(case["metrics"]))
        for name, metric in case["metrics"].items():
            present = [value for value in metric["values"] if value is not None]
            if metric["class"] == "exact" or not present or min(present) <= 0:
                continue
            factor = math.exp(draw.gauss(0, self.spread.get((case["id"], name), LEAST_SPREAD)))
            if host in self.bad:
                concerns, only, worse = FAULTS[self.bad[host]]
                if concerns(case["id"]) and (only is None or only == name):
                    factor *= worse if metric["better"] == "higher" else 1 / worse if only is None else worse
            values = [value * factor for value in draw.choices(bounded(present, self.most_scatter), k=len(present))]
            case["metrics"][name] = dict(metric, values=values, summary=summary(values))
        return case

    def write(self, folder):
        for host in self.hosts:
            (folder / f"{host}.json").write_text(json.dumps(self.result(host)))
        return [str(folder / f"{host}.json") for host in self.hosts]
