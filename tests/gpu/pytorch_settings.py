"""PyTorch's caching allocator under settings, on a card: what `memsweep fit --pytorch` predicts, measured.

  pytorch_settings.py OUT            five models under eight settings, then under limits on what PyTorch may reserve
  pytorch_settings.py OUT MODEL NAME SETTINGS [LIMIT]      one of them, as a process of its own

OUT has MODEL.NAME.json for each (reserved and allocated peaks, segments, statistics, the curve of the steps) and MODEL.pickle, the
whole history of the allocator under the default settings. Needs PyTorch and torchvision, and up to 40 GiB of the card.
"""
import json
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MODELS = ("mlp", "transformer", "cnn", "kvcache", "streams")
SETTINGS = {"default": "", "again": "", "split": "max_split_size_mb:32", "split128": "max_split_size_mb:128",
            "roundup": "roundup_power2_divisions:4", "expandable": "expandable_segments:True",
            "gc": "garbage_collection_threshold:0.6", "both": "expandable_segments:True,roundup_power2_divisions:8"}
STEPS = 30
MIB = 1 << 20


def mlp(torch, steps, choose, mark):
    layers = [layer for _ in range(6) for layer in (torch.nn.Linear(2048, 2048), torch.nn.GELU())]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    for _ in range(steps):
        rows = torch.randn(choose.choice([64, 200, 513, 1024, 3000, 4096]), 2048, device="cuda")
        optimizer.zero_grad()
        model(rows).square().mean().backward()
        optimizer.step()
        mark()


def transformer(torch, steps, choose, mark):
    layer = torch.nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, dropout=0.1)
    model = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).cuda()
    words = torch.nn.Embedding(20000, 512).cuda()
    head = torch.nn.Linear(512, 20000).cuda()
    optimizer = torch.optim.AdamW([*model.parameters(), *words.parameters(), *head.parameters()], lr=1e-4)
    for _ in range(steps):
        length = choose.randrange(40, 900)
        text = torch.randint(0, 20000, (choose.randrange(2, 9), length), device="cuda")
        optimizer.zero_grad()
        guess = head(model(words(text)))
        torch.nn.functional.cross_entropy(guess.flatten(0, 1), text.flatten()).backward()
        optimizer.step()
        mark()


def cnn(torch, steps, choose, mark):
    import torchvision
    model = torchvision.models.resnet50().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(min(steps, 14)):
        side = choose.choice([128, 160, 192, 224])
        images = torch.randn(choose.randrange(8, 33), 3, side, side, device="cuda")
        optimizer.zero_grad()
        model(images).square().mean().backward()
        optimizer.step()
        mark()


def kvcache(torch, steps, choose, mark):
    heads, width, layers = 16, 64, 6
    live = []
    for _ in range(steps * 6):
        if len(live) < 8 and choose.random() < 0.4:
            length = choose.randrange(50, 2000)
            live.append([[torch.randn(1, heads, length, width, device="cuda", dtype=torch.half) for _ in range(2)] for _ in range(layers)])
        if live and choose.random() < 0.03:
            live.pop(choose.randrange(len(live)))
        for sequence in live:
            for pair in sequence:
                for i in (0, 1):
                    pair[i] = torch.cat([pair[i], torch.zeros(1, heads, 16, width, device="cuda", dtype=torch.half)], 2)
        mark()


def streams(torch, steps, choose, mark):
    side = torch.cuda.Stream()
    weights = torch.randn(4096, 4096, device="cuda")
    kept = []
    for _ in range(steps * 4):
        rows = torch.randn(choose.choice([100, 700, 1500, 2600, 5000, 9000]), 4096, device="cuda")
        product = rows @ weights
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            positive = product.relu()
            product.record_stream(side)
            last = positive @ weights
            kept.append(last)
        torch.cuda.current_stream().wait_stream(side)
        if len(kept) > 5:
            kept.pop(choose.randrange(len(kept)))
        del rows, product, positive, last
        torch.cuda.synchronize()
        mark()


def one(out, model, name, limit):
    import torch
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = False
    memory = torch.cuda.memory
    card = torch.cuda.get_device_properties(0)
    if limit:
        torch.cuda.set_per_process_memory_fraction(limit / card.total_memory)
    if name == "default":
        memory._record_memory_history(max_entries=400000, context="alloc", stacks="python")
    curve = []
    error = ""
    try:
        globals()[model](torch, STEPS, random.Random(7),
                         lambda: curve.append([memory.memory_allocated(), memory.memory_reserved(), memory.max_memory_reserved()]))
        torch.cuda.synchronize()
    except torch.OutOfMemoryError as refused:
        error = str(refused)
    if name == "default":
        memory._dump_snapshot(str(out / f"{model}.pickle"))
    stats = memory.memory_stats()
    segments = memory._snapshot()["segments"]
    (out / f"{model}.{name}.json").write_text(json.dumps({
        "model": model, "settings": os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""), "limit": limit or None, "total": card.total_memory,
        "max_reserved": memory.max_memory_reserved(), "max_allocated": memory.max_memory_allocated(), "error": error,
        "stats": {key: value for key, value in stats.items() if ".all." in key or "." not in key},
        "segments": [[segment["segment_type"], segment["total_size"], segment["allocated_size"], segment["stream"],
                      bool(segment.get("is_expandable"))] for segment in segments],
        "curve": curve, "torch": torch.__version__, "card": card.name}))


def every(out):
    out.mkdir(parents=True, exist_ok=True)

    def run(model, name, settings, limit=0):
        try:
            subprocess.run([sys.executable, __file__, out, model, name, settings, str(limit)], check=True, timeout=100,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                           env={**os.environ, "PYTORCH_CUDA_ALLOC_CONF": settings, "OMP_NUM_THREADS": "1"})
            return ""
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failure:
            return f"{model} {name}: {failure} {(failure.stderr or b'')[-300:].decode(errors='replace')}"

    with ThreadPoolExecutor(max(os.cpu_count() - 2, 1)) as pool:
        failures = list(pool.map(lambda job: run(*job), [(model, name, settings) if name != "gc" else (model, name, settings, 24 << 30)
                                                         for model in MODELS for name, settings in SETTINGS.items()]))
        jobs = []
        for model in MODELS:
            peaks = json.loads((out / f"{model}.default.json").read_text())
            reserved, allocated = peaks["max_reserved"], peaks["max_allocated"]
            between = {"l99": reserved - MIB, "l75": allocated + (reserved - allocated) * 3 // 4, "l50": (reserved + allocated) // 2,
                       "l25": allocated + (reserved - allocated) // 4, "l0": allocated + 2 * MIB, "lm": allocated - 2 * MIB}
            jobs += [(model, name, "", limit) for name, limit in between.items()]
            jobs += [(model, "gcr", "garbage_collection_threshold:0.8", reserved), (model, "xl0", "expandable_segments:True", allocated + 4 * MIB)]
        failures += pool.map(lambda job: run(*job), jobs)
    failures = [failure for failure in failures if failure]
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"{len(list(out.glob('*.json')))} runs of {len(MODELS)} models, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.exit(every(Path(sys.argv[1])))
    if len(sys.argv) not in (5, 6) or sys.argv[2] not in MODELS:
        sys.exit(__doc__)
    one(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[5]) if len(sys.argv) == 6 else 0)
