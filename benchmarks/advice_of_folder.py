#!/usr/bin/env python3
"""What `memsweep advise` finds for programs of a folder, beside a bound for each.

    benchmarks/advice_of_folder.py FOLDER ORDERS [--budget 60s] [--only NAME]... --out FILE

ORDERS is a JSON array of {"program": NAME, "wish": "end"|"peak"|"idle", "words": [...], "at_most_mib": X, "by": TEXT}; the last two may
be absent. "{}" in a word is FOLDER. A program makes the file of $ADV_MARK when its work is done, and rests $ADV_IDLE seconds; one with
"exits": true does neither. `met`: under the advice it needs at most that many MiB, or the advised environment contains the text. Memory
under the advice is measured three times without memsweep, as benchmarks/advice.py does it.

Exit codes: 0 every bound is met, 1 not.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import advice

IDLE = 2


def variables(folder, rest):
    mark = folder / "mark"
    mark.unlink(missing_ok=True)
    return {**os.environ, "ADV_DIR": str(folder), "ADV_N": "0", "ADV_MARK": str(mark), "ADV_IDLE": str(rest)}


def ask(words, order, budget, folder):
    wish = order["wish"]
    want = f"rss@idle={IDLE}s" if wish == "idle" else f"rss@{wish}"
    sign = [] if wish == "peak" or order.get("exits") else ["--end-when", f"file:{folder}/mark"]
    done = subprocess.run([advice.MEMSWEEP, "advise", "-q", "--json", "--want", want, "--budget", budget, *sign, "--", *words], cwd=folder, check=False,
                          env=variables(folder, {"peak": 0, "end": 0.3}.get(wish, IDLE + 0.3)), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done, json.loads(done.stdout) if done.returncode in (0, 1, 5) else None


def memory(words, environment, wish, folder):
    """Bytes; None where it fails."""
    process = subprocess.Popen(words, env={**variables(folder, {"peak": 0, "end": 0.3}.get(wish, IDLE + 0.3)), **environment}, cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    value = 0
    if wish != "peak":
        while not (folder / "mark").exists() and process.poll() is None:
            time.sleep(0.002)
        time.sleep(IDLE if wish == "idle" else 0.01)
        value = advice.resident(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    return (value or usage.ru_maxrss << 10) if status == 0 else None


def row_of(order, budget, folder):
    words = [word.replace("{}", str(folder)) for word in order["words"]]
    row = {"program": order["program"], "wish": order["wish"], "at_most_mib": order.get("at_most_mib"), "by": order.get("by"), "load": round(os.getloadavg()[0], 2)}
    began = time.monotonic()
    done, report = ask(words, order, budget, folder)
    row.update({"code": done.returncode, "wall_seconds": round(time.monotonic() - began, 1)})
    if report is None:
        return {**row, "verdict": "none", "headline": done.stderr.strip()[-200:], "met": False}
    advised = report["advice"][0]["environment"] if report["advice"] else {}
    row.update({"verdict": report["verdict"], "headline": report["headline"], "warnings": report["warnings"], "advised": advised, "real_runs": report["cost"]["real_runs"],
                "replays": report["cost"]["replays"], "changes_user": report["program"]["changes_user"],
                "refused": [one["settings"] for one in report["tried"] if one["dropped"] == "refused"]})
    if not order.get("exits"):
        values = [memory(words, {}, order["wish"], folder), *(memory(words, advised, order["wish"], folder) for _ in range(3))]
        row["default_bytes"], row["advised_bytes"] = values[0], round(statistics.median(values[1:])) if all(values[1:]) else None
    found = row.get("advised_bytes")
    bound, by = order.get("at_most_mib"), order.get("by")
    row["met"] = (bound is None or bool(found and found <= bound * advice.MIB)) and (by is None or by in json.dumps(advised))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("orders", type=pathlib.Path)
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--only", action="append", help="NAME or NAME@WISH")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    rows = []
    for order in json.loads(args.orders.read_text()):
        if args.only and not {order["program"], f"{order['program']}@{order['wish']}"} & set(args.only):
            continue
        rows.append(row_of(order, args.budget, args.folder.resolve()))
        row = rows[-1]
        print(f"{row['program']}@{row['wish']}: {row['headline']} [{row.get('default_bytes')} -> {row.get('advised_bytes')}; {row['wall_seconds']} s]"
              f"{'' if row['met'] else ' MISSED'}", flush=True)
        args.out.write_text(json.dumps({"machine": platform.processor() or platform.machine(), "processors": os.cpu_count(), "kernel": platform.release(),
                                        "budget": args.budget, "met": sum(one["met"] for one in rows), "of": len(rows), "rows": rows}, indent=1) + "\n")
    return 0 if all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
