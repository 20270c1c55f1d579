#!/usr/bin/env bash
# Runs on a GPU what no machine without one can: the contract tests, every case of the device probe, rounds beside other
# programs, memory of the driver, traces and the catalog's transfers on the device, compute-sanitizer. It needs a kit of
# scripts/gpu_kit.sh, wherever that was copied to, or a checkout with a release build, of which it packs a kit first; and
# of the machine a driver, nvidia-smi, bash and the usual commands, no packages and no network.
#
#   gpu_check.sh [a|b|c|all] [--backend cuda|opencl] [--only REGEX] [--quick] [--budget SECONDS] [--out DIR]
#
#   a              facts, contract tests, the whole probe, five rounds beside nvbandwidth and copy_engine
#   b              memory of the driver, replays of traces, the catalog's scenarios of devices, hostile environments,
#                  compute-sanitizer
#   c              both directions and all devices beside nvbandwidth, ten rounds at default options, staging and pools beside
#                  loops written by hand, PyTorch's allocator under settings, managed memory beyond the card
#   all            all of them (default); where a command may take ten minutes, one by one
#   --backend B    opencl: on OpenCL's devices, to try the kit without a GPU; figures are then compared, not judged
#   --only REGEX   only the steps whose name matches
#   --quick        small and once: shows that the steps run, and no figure worth keeping
#   --budget S     stop after so many seconds (default 560)
#   --out DIR      where results and gpu_summary_PART.txt are left (default results beside this script; of a checkout,
#                  results/gpu)
#
# Every step has a time of its own and ends in one line: passed, failed, compared (a figure of which nothing is asked) or
# not run, with the reason.
#
# Exit codes  0 all that ran passed; 1 something failed, or it was interrupted; 2 no GPU, nothing that could run, or wrong
#             usage.
set -uo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

die() {
    echo "gpu_check: $1" >&2
    exit "${2:-1}"
}

# A checkout: the kit is packed of what is built, and everything below happens in the kit.
if [[ ! -x $here/bin/memsweep && -f $here/gpu_kit.sh && ${1:-} != -h && ${1:-} != --help ]]; then
    root=$(dirname "$here")
    "$here/gpu_kit.sh" --build-dir "$root/build/release" >/dev/null || die "no kit could be packed of build/release"
    exec "$root/build/gpu_kit/gpu_check.sh" --out "$root/results/gpu" "$@"
fi

part='' backend=cuda only='' quick='' budget=560 out=$here/results
while [[ $# -gt 0 ]]; do
    case $1 in
    -h | --help)
        sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 0
        ;;
    a | b | c | all) part=$1 ;;
    --quick) quick=yes ;;
    --backend | --only | --budget | --out)
        [[ $# -gt 1 ]] || die "$1 needs a value" 2
        case $1 in
        --backend) backend=$2 ;;
        --only) only=$2 ;;
        --budget) budget=$2 ;;
        --out) out=$2 ;;
        esac
        shift
        ;;
    *) die "unknown argument $1; see --help" 2 ;;
    esac
    shift
done
part=${part:-all}
[[ $backend == cuda || $backend == opencl ]] || die "--backend: $backend is neither cuda nor opencl" 2
[[ $budget =~ ^[1-9][0-9]*$ ]] || die "--budget: $budget is no number of seconds" 2
[[ -x $here/bin/memsweep ]] || die "no bin/memsweep beside this script: this is no whole kit" 2
mkdir -p "$out" || die "--out: $out cannot be made" 2
out=$(cd "$out" && pwd)
work=$(mktemp -d) || die "no folder for what is being measured"
cd "$work" || exit 1

summary=$out/gpu_summary_$part.txt
started=$SECONDS
failed=0 passed=0 noted=0 absent='' stopped='' child='' beside=()
: >"$summary"

# What belongs to one backend must not fall back on the other.
if [[ $backend == cuda ]]; then
    export OCL_ICD_VENDORS=/nowhere
else
    export CUDA_VISIBLE_DEVICES='' POCL_DEVICES=${POCL_DEVICES:-pthread pthread}
fi
judge=$([[ $backend == cuda && -z $quick ]] && echo 1 || echo 0)

say() { printf '%s\n' "$@" | tee -a "$summary"; }

# note VERDICT NAME DETAIL: the line of a step.
note() {
    say "$(printf '%-9s %-34s %s' "$1" "$2" "$3")"
    noted=$((noted + 1))
    case $1 in
    passed) passed=$((passed + 1)) ;;
    failed) failed=$((failed + 1)) ;;
    esac
}

left() { echo $((budget - SECONDS + started)); }

# attempt NAME SECONDS COMMAND...: runs it, no longer than it may and than is left. Its status is $rc, what it printed is
# in $log. False, with $why, where it was not run or not to its end for a reason of ours.
attempt() {
    local limit=$2 most=$2
    log=$work/$1.txt why=''
    shift 2
    if [[ -n $stopped ]]; then
        why=$stopped
    elif [[ -n $absent ]]; then
        why=$absent
    elif (($(left) < 8)); then
        why="no time is left"
    fi
    [[ -z $why ]] || return 1
    ((limit > $(left) - 6)) && limit=$(($(left) - 6))
    # In the background, because a signal to us waits for what runs in the foreground.
    timeout -k 3 "$limit" "$@" >"$log" 2>&1 </dev/null &
    child=$!
    wait "$child"
    rc=$?
    if [[ -n $stopped ]]; then
        kill "$child" 2>/dev/null
        why="$stopped before it ended"
        return 1
    fi
    child=''
    if ((rc == 124 || rc == 137)) && ((limit < most)); then
        why="the $limit s that were left of its $most were too few"
        return 1
    fi
}

# step NAME SECONDS COMMAND...: as attempt; true where the step ran and its status is for the caller to judge.
step() {
    local name=$1
    [[ $name =~ $only ]] || return 1
    if ! attempt "$@"; then
        note "not run" "$name" "$why"
        return 1
    fi
    if ((rc == 124 || rc == 137)); then
        note failed "$name" "it was stopped after $2 s"
        return 1
    fi
}

ours() { timeout -k 3 60 env LD_LIBRARY_PATH="$libraries" "$here/bin/memsweep" "$@"; }
last_line() { grep -v '^[[:space:]]*$' "$log" | tail -n 1 | cut -c 1-200; }

# figures REPORT FILE...: notes each figure that the report has of them.
figures() {
    local report=$1 verdict name detail
    shift
    while IFS=$'\t' read -r verdict name detail; do
        [[ $verdict == none ]] && verdict="not run"
        note "$verdict" "$name" "$detail"
    done < <(awk -v report="$report" -v set="${figures_set:-beside}" -v judge="$judge" -v csv="${figures_csv:-}" -f "$here/gpu_figures.awk" "$@")
}

# reasons RESULT: why cases were skipped, each reason once with how often.
reasons() {
    awk '/"status": "skipped"/ { skipped = 1; next }
         skipped && /"reason": / { sub(/.*"reason": "/, ""); sub(/",?$/, ""); ++why[$0] }
         { skipped = 0 }
         END { for (one in why) printf "; %d x %s", why[one], one }' "$1" | cut -c 1-600
}

# measured NAME SECONDS RESULT COMMAND...: a step that leaves a result; memsweep's status judges it.
measured() {
    local name=$1 result=$3 counts
    step "$name" "$2" "${@:4}" || return 1
    [[ -s $result ]] && ours report "$result" -f csv-summary -o "${result%.json}.csv" >/dev/null 2>&1
    counts=$(awk -v report=counts -f "$here/gpu_figures.awk" "${result%.json}.csv" 2>/dev/null | cut -f 3)
    [[ $rc != 0 || $counts == *" ok"* ]] || rc=4  # a probe of nothing but skipped cases ends well
    case $rc in
    0) note passed "$name" "$counts$(reasons "$result")" ;;
    4) note "not run" "$name" "nothing could be measured$(reasons "$result")" ;;
    *) note failed "$name" "exit code $rc: ${counts:+$counts; }$(last_line)" ;;
    esac
    ((rc == 0))
}

# judge_tests NAME: a program of Catch2's has tested nothing where it counts no assertion.
judge_tests() {
    local count
    count=$(grep -oE '[0-9]+ assertions? in [0-9]+ test cases?|assertions: +[0-9]+.*' "$log" | tail -n 1)
    if [[ $rc == 0 && $count =~ [1-9][0-9]*\ assertion ]]; then
        note passed "$1" "$count"
    else
        note failed "$1" "exit code $rc: ${count:-no assertion}; $(last_line)"
    fi
}

finish() {
    local bytes
    ((${#beside[@]})) && kill "${beside[@]}" 2>/dev/null
    [[ -n $child ]] && kill "$child" 2>/dev/null
    if tar -czf "$out/gpu_$part.tgz" -C "$work" . 2>/dev/null; then
        bytes=$(wc -c <"$out/gpu_$part.tgz")
        say "" "every result and log: gpu_$part.tgz, $((bytes / 1024)) KiB"
        rm -rf "$work"
    else
        say "" "every result and log: $work (no tar here)"
    fi
}
trap finish EXIT
interrupted="it was interrupted"
trap 'stopped=$interrupted' INT TERM HUP
trap 'stopped="the time is up"' USR1
# A driver that hangs may keep even a killed process: then the summary does not wait for it.
{
    trap 'kill $! 2>/dev/null; exit' TERM
    sleep "$budget" &
    wait
    kill -USR1 $$
} >/dev/null 2>&1 &
beside+=($!)

# What the driver's libraries are found by stays in front. The compiler's libraries of the kit serve where the machine
# has none or older ones.
libraries=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$here/lib
if ! ours --version >start.txt 2>&1; then
    libraries+=:$here/lib/fallback
    if ! ours --version >start.txt 2>&1; then
        note failed start "memsweep does not start here: $(tail -n 1 start.txt)"
        exit 1
    fi
fi
kit_run=(env "LD_LIBRARY_PATH=$libraries")
memsweep=("${kit_run[@]}" "$here/bin/memsweep")
say "gpu_check $part, $backend${quick:+, quick}, $(head -n 1 start.txt), $(date -u +%Y-%m-%dT%H:%M:%SZ)" "budget $budget s" ""

facts() {
    ours --version --json
    ours probe topology -q -f json -o topology.json
    nvidia-smi -L
    nvidia-smi --query-gpu=name,driver_version,pstate,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,memory.total,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,power.limit,temperature.gpu,ecc.mode.current --format=csv
    nvidia-smi -q -d CLOCK,PERFORMANCE,POWER
    nvidia-smi topo -m
    uname -a
    ldd --version | head -n 1
    nproc
    head -n 3 /proc/meminfo
    ulimit -l
}
export here libraries
export -f facts ours
# Whatever was asked for: which devices there are decides what can run.
devices='not known'
if ! attempt facts 60 bash -c facts; then
    note "not run" facts "$why"
else
    devices=$(grep -m 1 '"devices"' "$log" | cut -d '"' -f 4)
    note passed facts "Linux $(uname -r); $devices"
    case $backend:$devices in
    cuda:gpu0:*CUDA* | opencl:gpu0:*OpenCL*) ;;
    *) absent="no device" ;;
    esac
fi
passed=0 noted=0  # facts prove nothing
if [[ -z $absent ]] && command -v nvidia-smi >/dev/null; then
    # Clocks and throttling beside every step; it also keeps the driver initialised between them.
    nvidia-smi dmon -s pucte -d 1 -o T >clocks.txt 2>&1 &
    beside+=($!)
fi

# Part A: is it right, and is it fast.

probe_options=(-q) small_probe=(-q -n 2)
if [[ -n $quick ]]; then
    probe_options+=(-n 1 --size 8MiB --min-time 1ms)
    small_probe+=(--min-time 1ms)
fi

contract() {
    if [[ $backend == cuda ]]; then
        step contract 100 "${kit_run[@]}" "$here/bin/test_gpu" "[gpu]" -d yes && judge_tests contract
        step broken_context 30 "${kit_run[@]}" "$here/bin/test_gpu" "[breaks]" && judge_tests broken_context
        if step opencl_contract 60 env -u OCL_ICD_VENDORS "${kit_run[@]}" "$here/bin/test_device" "[device]" -d yes; then
            if grep -q 'no OpenCL device' "$log"; then
                note "not run" opencl_contract "$(grep -m 1 'no OpenCL device' "$log" | cut -c 1-200)"
            else
                judge_tests opencl_contract
            fi
        fi
    else
        step contract 100 "${kit_run[@]}" "$here/bin/test_device" "[device]" -d yes && judge_tests contract
    fi
}

# Is this normal for such a card: the limits of its kind, where some ship. They are compared, for a card may be in a slower
# slot than those that they come from.
card_limits() {
    local card
    case $devices in
    *H100*) card=h100 ;;
    *H200*) card=h200 ;;
    *) card='' ;;
    esac
    if [[ limits =~ $only && -z $card ]]; then
        note "not run" limits "no limits ship for such a card"
    elif step limits 30 "${memsweep[@]}" report gpu_probe.json --limits "$card"; then
        note compared limits "$card: $(grep -m 1 -oE '[^.]*limits? (hold|violated|warned)[^;]*;[^(]*' "$log" | cut -c 1-200)"
    fi
}

whole_probe() {
    if measured probe 170 gpu_probe.json "${memsweep[@]}" probe topology device "${probe_options[@]}" -f json -o gpu_probe.json; then
        figures staged gpu_probe.csv
        card_limits
    fi
    [[ ! -s gpu_probe.json ]] || cp gpu_probe.json "$out/"
    # More copies than a driver queues, of a size at which a sample has thousands.
    measured small_copies 60 small_copies.json "${memsweep[@]}" probe device --size 64KiB -k 'host_to_device_memcpy_ce|device_to_host_memcpy_ce' "${small_probe[@]}" -f json -o small_copies.json
    measured write_combined 30 write_combined.json "${memsweep[@]}" probe 'host:write_combined -> gpu0.sm -> gpu0' "${small_probe[@]}" -f json -o write_combined.json
}

# rounds NAME COUNT "TRANSFERS" "PROGRAMS" "NVBANDWIDTH'S OPTIONS" OUR OPTIONS...: programs in turns, the order of which
# alternates, so that a drift of the machine meets all alike. The figures are left in gpu_NAME.csv.
rounds() {
    local name=$1 count=$2 transfers=$3 programs=$4 their_options=$5 round order program some='' problems=''
    shift 5
    [[ $name =~ $only ]] || return
    if [[ $backend != cuda ]]; then
        note "not run" "$name" "${programs// / and } drive CUDA alone"
        return
    fi
    for program in $programs; do
        if [[ -x $here/bin/$program ]]; then
            some=yes
        else
            note "not run" "${name}_$program" "$program is not in this kit: scripts/gpu_kit.sh says how it comes in"
        fi
    done
    [[ -n $some ]] || return
    if [[ -n $absent ]]; then
        note "not run" "$name" "$absent"
        return
    fi
    mkdir -p "$work/$name"
    for ((round = 1; round <= count; ++round)); do
        order=()
        for program in ${programs/ / ours }; do order+=("$program"); done
        [[ $programs == *" "* ]] || order=("$programs" ours)
        ((round % 2)) || order=("${order[2]:-}" "${order[1]}" "${order[0]}")
        for program in "${order[@]}"; do
            case $program in
            '') continue ;;
            nvbandwidth)
                [[ -x $here/bin/nvbandwidth ]] || continue
                # shellcheck disable=SC2086  # lists of words
                attempt "$name/nvbandwidth_$round" 60 "${kit_run[@]}" "$here/bin/nvbandwidth" -t $transfers $their_options
                ;;
            ours)
                attempt "$name/memsweep_$round" 60 "${memsweep[@]}" probe device --devices 0 "$@" -q -k "transfer=(${transfers// /|})\$" -f csv-summary -o "$name/ours_$round.csv"
                ;;
            copy_engine)
                [[ -x $here/bin/copy_engine ]] || continue
                attempt "$name/copy_engine_$round" 30 "${kit_run[@]}" "$here/bin/copy_engine" 5
                ;;
            esac || {
                note "not run" "$name: rounds from $round on" "$why"
                break 2
            }
            ((rc == 0)) || problems+="; $program in round $round: exit code $rc, $(last_line)"
        done
    done
    [[ -z $problems ]] || note failed "$name" "${problems:2}"
    local files
    mapfile -t files < <(find "$name" -name 'ours_*.csv' -o -name 'nvbandwidth_*.txt' -o -name 'copy_engine_*.txt' | sort)
    figures_set=$name figures_csv=$out/gpu_$name.csv figures beside "${files[@]}"
}

one_way='host_to_device_memcpy_ce device_to_host_memcpy_ce host_to_device_memcpy_sm device_to_host_memcpy_sm host_device_latency_sm device_local_copy'
# How often, and by what options, programs take turns: `--quick` shows that they do.
turns() { # ROUNDS OUR OPTIONS...
    count=$1 options=("${@:2}")
    [[ -z $quick ]] || count=2 options=(--size 1MiB --min-time 1ms -n 1)
}

beside() {
    local count options
    turns 5 --size 512MiB --min-time 150ms -n 5
    rounds beside "$count" "${one_way/host_to_device_memcpy_sm/host_to_device_bidirectional_memcpy_ce device_to_host_bidirectional_memcpy_ce host_to_device_memcpy_sm}" \
        "nvbandwidth copy_engine" "-b 512 -i 5" "${options[@]}"
}

# Part B: memory, traces and transfers as scenarios have them.

replayed_on=device,pool@device,tlsf@device,stream_ordered,managed,pinned,pool@pinned
run_options=(-n 3 --warmup 1 -q) replay_options=(-n 3 --settle 0s -q)
if [[ -n $quick ]]; then
    run_options=(-n 1 --warmup 0 -q) replay_options=(-n 1 --warmup 0 --settle 0s --no-latency -q)
fi

driver_memory() {
    if measured driver_memory 120 gpu_driver_memory.json "${memsweep[@]}" run driver_memory "${run_options[@]}" -o gpu_driver_memory.json; then
        figures pool gpu_driver_memory.csv
    fi
    [[ ! -s gpu_driver_memory.json ]] || cp gpu_driver_memory.json "$out/"
}

# replay NAME SNAPSHOT: imports a snapshot of PyTorch's allocator and makes its calls on the device.
replay() {
    if step "import_$1" 30 "${memsweep[@]}" import "$2" -o "$1.mst"; then
        if ((rc != 0)); then
            note failed "import_$1" "exit code $rc: $(last_line)"
            return
        fi
        note passed "import_$1" "$(sed -n 's/^events  */events: /p' "$log")"
    fi
    measured "replay_$1" 100 "gpu_replay_$1.json" "${memsweep[@]}" replay "$1.mst" --on "$replayed_on" "${replay_options[@]}" -o "gpu_replay_$1.json"
    [[ ! -s gpu_replay_$1.json ]] || cp "gpu_replay_$1.json" "$out/"
}

traces() {
    replay sample "$here/samples/pytorch.pickle"
    [[ replay_training =~ $only && $backend == cuda ]] || return
    local python=${PYTHON:-python3}
    if ! "$python" -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1; then
        note "not run" replay_training "no PyTorch that sees the device here"
        return
    fi
    cat >training.py <<'PYTHON'
import torch

torch.cuda.memory._record_memory_history(max_entries=100000)
model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)]).cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(20):
    optimizer.zero_grad()
    model(torch.randn(512, 1024, device="cuda")).sum().backward()
    optimizer.step()
torch.cuda.memory._dump_snapshot("training.pickle")
PYTHON
    if step record_training 60 "$python" training.py; then
        if ((rc == 0)); then
            note passed record_training "$(wc -c <training.pickle) bytes of PyTorch's own snapshot"
            replay training training.pickle
        else
            note failed record_training "exit code $rc: $(last_line)"
        fi
    fi
}

# Staging and the soundness of every way first, the rest by name.
scenarios() {
    local catalog=$here/share/memsweep/scenarios/catalog name
    while read -r name; do
        measured "scenario_$name" 60 "$name.json" "${memsweep[@]}" run "$name" "${run_options[@]}" -o "$name.json"
    done < <(printf '%s\n' probe_staging transfer_crossover probe_healthcheck
             grep -lE '"gpu[0-9*]' "$catalog"/*.json | sed 's,.*/,,; s,\.json$,,' |
                 grep -vxE 'driver_memory|probe_staging|transfer_crossover|probe_healthcheck')
}

# What a user's environment may have set: cases that it makes impossible are skipped with its name, all others are right.
hostile() {
    local chosen='transfer=(host_to_device_memcpy_ce|host_to_device_bidirectional_memcpy_ce|host_to_device_pageable|stream_wait_latency)$'
    if [[ $backend != cuda ]]; then
        [[ launch_blocking =~ $only || one_connection =~ $only ]] && note "not run" hostile "these variables are read by CUDA alone"
        return
    fi
    measured launch_blocking 40 launch_blocking.json env CUDA_LAUNCH_BLOCKING=1 "${memsweep[@]}" probe device -k "$chosen" "${small_probe[@]}" -f json -o launch_blocking.json
    measured one_connection 40 one_connection.json env CUDA_DEVICE_MAX_CONNECTIONS=1 "${memsweep[@]}" probe device -k "$chosen" "${small_probe[@]}" -f json -o one_connection.json
}

sanitizer() {
    [[ sanitizer_memcheck =~ $only || sanitizer_initcheck =~ $only || sanitizer_racecheck =~ $only || sanitizer_synccheck =~ $only ]] || return
    local program refusal tool assertions
    program=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer)
    if [[ $backend != cuda ]]; then
        note "not run" sanitizer "compute-sanitizer watches CUDA alone"
        return
    fi
    if [[ -z $absent && -z $program ]]; then
        note "not run" sanitizer "compute-sanitizer is not installed"
        return
    fi
    # Calls that fail are the contract's own: it asks for more memory than there is, and asserts the refusal.
    for tool in memcheck initcheck racecheck synccheck; do
        step "sanitizer_$tool" 150 "${kit_run[@]}" "${program:-compute-sanitizer}" --tool "$tool" --error-exitcode 9 --report-api-errors no "$here/bin/test_gpu" "[gpu]" -d yes || continue
        # Some virtual machines do not let it at the device.
        refusal=$(grep -m 1 -i 'device not supported' "$log")
        assertions=$(grep -oE '[1-9][0-9]* assertions|assertions: +[1-9][0-9]*' "$log" | tail -n 1)
        if [[ -n $refusal ]]; then
            note "not run" "sanitizer_$tool" "${refusal#=* }"
        # Under initcheck a copy waits for what was queued before it, and a latch that holds that up gives way: the
        # contract's word on it does not count there.
        elif [[ $tool == initcheck && $rc != 9 && -n $assertions ]] && grep -q 'ERROR SUMMARY: 0 errors' "$log"; then
            note passed "sanitizer_$tool" "no error in $assertions"
        else
            judge_tests "sanitizer_$tool"
        fi
    done
}

# Part C: what is claimed beside others.

many_queues() {
    local transfers='' mover way count options
    turns 6 --min-time 100ms -n 5
    for mover in ce sm; do
        for way in host_to_device device_to_host; do transfers+="${way}_bidirectional_memcpy_$mover "; done
        for way in all_to_host host_to_all; do transfers+="${way}_memcpy_$mover ${way}_bidirectional_memcpy_$mover "; done
    done
    rounds queues "$count" "${transfers% }" nvbandwidth "-b 256" "${options[@]}"
}

# reference NAME SECONDS PROGRAM [SAMPLES]: a loop written by hand, whose figures are left in gpu_NAME.csv.
reference() {
    local name=$1
    if [[ $name =~ $only && $backend != cuda ]]; then
        note "not run" "$name" "$3 drives CUDA alone"
        return
    fi
    if [[ $name =~ $only && ! -x $here/bin/$3 ]]; then
        note "not run" "$name" "$3 is not in this kit"
        return
    fi
    step "$name" "$2" "${kit_run[@]}" "$here/bin/$3" "${@:4}" || return
    grep , "$log" >"$out/gpu_$name.csv"
    note "$([[ $rc == 0 ]] && echo passed || echo failed)" "$name" "$(grep -c , "$log") lines; $(last_line)"
}

claims() {
    local times count options
    many_queues
    turns 10
    rounds defaults "$count" "$one_way" nvbandwidth "-b 256" "${options[@]}"
    reference staging_limit 80 staging_limit ${quick:+1}
    measured staging_equal 90 staging_equal.json "${memsweep[@]}" run "$here/samples/staging_equal.json" "${run_options[@]}" ${quick:+-a size=64MiB} -o staging_equal.json
    reference pool_loop 60 pool_loop ${quick:+6}
    for times in 100 1000 10000; do
        options=(--set "times=$times" -a "resource=device,stream_ordered" -a "size=64KiB,1MiB")
        ((times == 100)) || options+=(-a pool=classes)
        measured "pool_$times" 60 "pool_$times.json" "${memsweep[@]}" run driver_memory "${options[@]}" "${run_options[@]}" -o "pool_$times.json"
    done
    for times in staging_equal pool_100 pool_1000 pool_10000; do
        [[ ! -s $times.json ]] || cp "$times.json" "$out/gpu_$times.json"
    done
    # Managed memory of half, all and one and a half times what ballast leaves of the card.
    measured oversubscription 120 oversubscription.json "${memsweep[@]}" probe device --devices 0 --ballast -k 'transfer=managed_' "${small_probe[@]}" ${quick:+--size 1MiB} -f json -o oversubscription.json
    [[ ! -s oversubscription.json ]] || cp oversubscription.json "$out/gpu_oversubscription.json"
    if [[ pytorch_settings =~ $only ]]; then
        local python=${PYTHON:-python3}
        if [[ $backend != cuda ]] || ! "$python" -c 'import torch; assert torch.cuda.is_available()' >/dev/null 2>&1; then
            note "not run" pytorch_settings "no PyTorch that sees the device here"
        elif step pytorch_settings 200 "$python" "$here/samples/pytorch_settings.py" measure "$out/pytorch_settings"; then
            note "$([[ $rc == 0 ]] && echo passed || echo failed)" pytorch_settings "$(last_line)"
        fi
    fi
}

if [[ $part == a || $part == all ]]; then
    contract
    whole_probe
    beside
fi
if [[ $part == b || $part == all ]]; then
    driver_memory
    traces
    scenarios
    hostile
    sanitizer
fi
if [[ $part == c || $part == all ]]; then
    claims
fi

say "" "$passed passed, $failed failed, after $((SECONDS - started)) s"
((noted > 0)) || die "--only: no step of part $part matches $only" 2
if [[ -n $absent ]]; then
    say "NO GPU for $backend: $devices"
fi
[[ $stopped != "$interrupted" ]] && ((failed == 0)) || exit 1
((passed > 0)) || exit 2
