#!/usr/bin/env python3
"""What PyTorch's caching allocator reserves under its settings, beside what `memsweep fit --pytorch` predicts from one run.

    benchmarks/pytorch_settings.py measure FOLDER          on a machine with a GPU and PyTorch: five loops under each setting
    benchmarks/pytorch_settings.py judge FOLDER OUT.json   needs no GPU: the predictions (MEMSWEEP, default build/release/memsweep)

Each run is a process of its own. The first of a model records its whole history from the process's start; the limits of
the others (torch.cuda.set_per_process_memory_fraction) lie between what that one reserved and what it had allocated."""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

MIB = 1 << 20
MODELS = ("mlp", "transformer", "cnn", "kvcache", "streams")
STEPS = 30


def runs(reserved, allocated):
    """Name, PYTORCH_CUDA_ALLOC_CONF and limit, of what the first run of the model had."""
    within = {f"l{part}": allocated + (reserved - allocated) * part // 100 for part in (75, 50, 25)}
    return [("again", "", None), ("split", "max_split_size_mb:32", None), ("split128", "max_split_size_mb:128", None),
            ("roundup", "roundup_power2_divisions:4", None), ("expandable", "expandable_segments:True", None),
            ("both", "expandable_segments:True,roundup_power2_divisions:8", None),
            ("gc", "garbage_collection_threshold:0.6", 24 << 30), ("gcr", "garbage_collection_threshold:0.8", reserved),
            ("l99", "", reserved - MIB), *((name, "", limit) for name, limit in within.items()),
            ("l0", "", allocated + 2 * MIB), ("lm", "", allocated - 2 * MIB), ("xl0", "expandable_segments:True", allocated + 4 * MIB)]


def mlp(torch, rng, dev):
    nn = torch.nn
    model = nn.Sequential(*[layer for _ in range(6) for layer in (nn.Linear(2048, 2048), nn.GELU())]).to(dev)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for _ in range(STEPS):
        x = torch.randn(rng.choice([64, 200, 513, 1024, 3000, 4096]), 2048, device=dev)
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


def transformer(torch, rng, dev):
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0.1)
    model = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).to(dev)
    embedding = nn.Embedding(20000, 512).to(dev)
    head = nn.Linear(512, 20000).to(dev)
    optimizer = torch.optim.AdamW([*model.parameters(), *embedding.parameters(), *head.parameters()], lr=1e-4)
    for _ in range(STEPS):
        length, batch = rng.randrange(40, 900), rng.randrange(2, 9)
        tokens = torch.randint(0, 20000, (batch, length), device=dev)
        optimizer.zero_grad()
        y = head(model(embedding(tokens)))
        nn.functional.cross_entropy(y.flatten(0, 1), tokens.flatten()).backward()
        optimizer.step()


def cnn(torch, rng, dev):
    import torchvision
    model = torchvision.models.resnet50().to(dev)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(14):
        side, batch = rng.choice([128, 160, 192, 224]), rng.randrange(8, 33)
        x = torch.randn(batch, 3, side, side, device=dev)
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


def kvcache(torch, rng, dev):
    """Sequences that grow by 16 tokens a step and come and go, as in a server without pages."""
    heads, dim, layers, live = 16, 64, 6, []
    for _ in range(STEPS * 6):
        if len(live) < 8 and rng.random() < 0.4:
            tokens = rng.randrange(50, 2000)
            live.append([[torch.randn(1, heads, tokens, dim, device=dev, dtype=torch.half) for _ in range(2)] for _ in range(layers)])
        if live and rng.random() < 0.03:
            live.pop(rng.randrange(len(live)))
        for sequence in live:
            for pair in sequence:
                for i in (0, 1):
                    pair[i] = torch.cat([pair[i], torch.zeros(1, heads, 16, dim, device=dev, dtype=torch.half)], 2)


def streams(torch, rng, dev):
    side, kept = torch.cuda.Stream(), []
    w = torch.randn(4096, 4096, device=dev)
    for _ in range(STEPS * 4):
        x = torch.randn(rng.choice([100, 700, 1500, 2600, 5000, 9000]), 4096, device=dev)
        y = x @ w
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            z = y.relu()
            y.record_stream(side)
            v = z @ w
            kept.append(v)
        torch.cuda.current_stream().wait_stream(side)
        if len(kept) > 5:
            kept.pop(rng.randrange(len(kept)))
        del x, y, z, v
        torch.cuda.synchronize()


def one(model, out, limit, snapshot):
    import torch
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    total = torch.cuda.get_device_properties(0).total_memory
    if limit:
        torch.cuda.set_per_process_memory_fraction(limit / total)
    if snapshot:
        torch.cuda.memory._record_memory_history(max_entries=400000, context="alloc", stacks="python")
    error = ""
    try:
        globals()[model](torch, random.Random(7), torch.device("cuda"))
        torch.cuda.synchronize()
    except torch.OutOfMemoryError as refused:
        error = str(refused)
    stats = torch.cuda.memory_stats()
    if snapshot:
        torch.cuda.memory._dump_snapshot(str(snapshot))
    wanted = ("num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free")
    out.write_text(json.dumps({
        "model": model, "settings": os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""), "limit": limit, "total": total,
        "max_reserved": torch.cuda.max_memory_reserved(), "max_allocated": torch.cuda.max_memory_allocated(), "error": error,
        "stats": {name: stats[name] for name in wanted}, "torch": torch.__version__, "card": torch.cuda.get_device_name()}))


def measure(folder):
    def run(model, name, conf, limit, *more):
        command = [sys.executable, __file__, "one", model, str(folder / f"{model}.{name}.json"), str(limit or 0), *more]
        subprocess.run(command, env={**os.environ, "PYTORCH_CUDA_ALLOC_CONF": conf}, check=True)
        return json.loads((folder / f"{model}.{name}.json").read_text())

    for model in MODELS:
        first = run(model, "default", "", None, str(folder / f"{model}.pickle"))
        for name, conf, limit in runs(first["max_reserved"], first["max_allocated"]):
            run(model, name, conf, limit)


def predicted(memsweep, trace, conf, capacity):
    command = [memsweep, "fit", trace, "--pytorch", "-f", "json"]
    command += (["--setting", conf] if conf else []) + (["--capacity", str(capacity)] if capacity else [])
    report = json.loads(subprocess.run(command, stdout=subprocess.PIPE).stdout)
    row = next(row for row in report["settings"] if row["settings"] == conf)
    return {"reserved": row["reserved_peak"], "allocated": row["allocated_peak"], "retries": row["retries"],
            "device_allocs": row["device_allocs"], "device_frees": row["device_frees"],
            "first_failure": row["first_failure"] and {key: row["first_failure"][key] for key in ("event", "size", "live_bytes", "cached_bytes")}}


def judge(folder, out):
    memsweep = os.environ.get("MEMSWEEP", "build/release/memsweep")
    rows, seen = [], set()
    with tempfile.TemporaryDirectory() as scratch:
        for model in MODELS:
            packed, trace = folder / f"{model}.pickle.xz", f"{scratch}/{model}.mst"
            plain = folder / f"{model}.pickle"
            if packed.exists():
                import lzma
                plain = pathlib.Path(scratch) / f"{model}.pickle"
                plain.write_bytes(lzma.decompress(packed.read_bytes()))
            subprocess.run([memsweep, "import", str(plain), "-o", trace], check=True, stdout=subprocess.DEVNULL)
            for name, _, _ in [("default", "", None), *runs(MIB, 0)]:
                card = json.loads((folder / f"{model}.{name}.json").read_text())
                seen.add((card["torch"], card["card"]))
                # As PyTorch computes it of the fraction.
                capacity = int(card["limit"] / card["total"] * card["total"]) if card["limit"] else None
                stats = card["stats"]
                rows.append({"model": model, "name": name, "settings": card["settings"], "capacity": capacity, "card": {
                    "reserved": card["max_reserved"], "allocated": card["max_allocated"], "retries": stats["num_alloc_retries"],
                    "device_allocs": stats["num_device_alloc"], "device_frees": stats["num_device_free"], "refused": stats["num_ooms"],
                    "ended_by": card["error"].split(" GPU ")[0] or None}, "predicted": predicted(memsweep, trace, card["settings"], capacity)})
    (version, card), = seen
    lines = ",\n".join(" " + json.dumps(row) for row in rows)
    out.write_text(f'{{"torch": {json.dumps(version)}, "card": {json.dumps(card)}, "runs": [\n{lines}\n]}}\n')
    off = [row["card"]["reserved"] - row["predicted"]["reserved"] for row in rows]
    print(f"{len(rows)} runs, {sum(1 for each in off if each == 0)} of which reserved what was predicted; at most {max(map(abs, off)) / MIB:g} MiB off")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["measure", folder]:
            measure(pathlib.Path(folder))
        case ["one", model, out, limit, *snapshot]:
            one(model, pathlib.Path(out), int(limit) or None, snapshot[0] if snapshot else None)
        case ["judge", folder, out]:
            judge(pathlib.Path(folder), pathlib.Path(out))
        case _:
            sys.exit(__doc__)
