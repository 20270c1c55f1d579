# The figures that gpu_check.sh judges, out of what the programs printed. One line for each: VERDICT, NAME and DETAIL between
# tabs, where VERDICT is passed, failed (below what was asked), compared (nothing was asked) or none (no figure).
#
#   awk -v report=beside -f gpu_figures.awk ours_1.csv nvbandwidth_1.txt copy_engine_1.txt ours_2.csv ...
#       medians of each program, and of the ratios within the rounds; `-v csv=FILE`: every value of every round, too;
#       `-v set=NAME`: what the lines' names begin with
#   awk -v report=pool -f gpu_figures.awk driver_memory.csv      the driver's time for an array over that of a pool above it
#   awk -v report=staged -f gpu_figures.awk probe.csv            our own staging over the driver's copy of ordinary memory
#   awk -v report=counts -f gpu_figures.awk any.csv              cases by status, but those of the topology, which are facts
#
# .csv are results as `memsweep report -f csv-summary` writes them. With `-v judge=0` nothing is asked.
BEGIN {
    FS = ","
    OFS = "\t"
    if (judge == "") judge = 1
    if (set == "") set = "beside"
}

FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.[a-z]*$/, "", name)
    who = name
    sub(/_[0-9]*$/, "", who)
    round = name
    sub(/.*_/, "", round)
    is_csv = FILENAME ~ /\.csv$/
}

{ sub(/\r$/, "") }

is_csv && FNR == 1 {
    for (i = 1; i <= NF; ++i) column[$i] = i
    next
}

is_csv {
    id = $column["case"]
    metric = $column["metric"]
    median = $column["median"]
    if ($column["scenario"] != "probe_topology") status[id] = $column["status"]
    if (metric == "bandwidth" || metric == "latency" || metric == "time_per_op") value[id, metric] = median
    if (report == "beside" && (metric == "bandwidth" || metric == "latency") && match(id, /transfer=[a-z0-9A-Z_]*/)) {
        add(substr(id, RSTART + 9, RLENGTH - 9), "memsweep", metric == "bandwidth" ? median / 1e9 : median * 1e9)
    }
}

# "SUM host_to_device_memcpy_ce 55.35", in GB/s or ns.
!is_csv && who == "nvbandwidth" && /^SUM / {
    split($0, word, " ")
    add(word[2], "nvbandwidth", word[3])
}

# "host_to_device_memcpy_ce,55.351"
!is_csv && who == "copy_engine" && /^[a-z_]+,[0-9.]+$/ { add($1, "copy_engine", $2) }

function add(transfer, program, figure) {
    if (!((transfer, program, round) in of_round)) {
        if (!(transfer in seen)) {
            seen[transfer] = 1
            transfers[++transfer_count] = transfer
        }
        if (round + 0 > rounds) rounds = round + 0
    }
    of_round[transfer, program, round] = figure + 0
}

function median_of(values, count,    i, j, held) {
    for (i = 2; i <= count; ++i) {
        held = values[i]
        for (j = i - 1; j >= 1 && values[j] > held; --j) values[j + 1] = values[j]
        values[j + 1] = held
    }
    return count % 2 ? values[(count + 1) / 2] : (values[count / 2] + values[count / 2 + 1]) / 2
}

function verdict(figure, least) {
    return !judge || least == 0 ? "compared" : figure >= least ? "passed" : "failed"
}

function asked(least) { return judge && least > 0 ? sprintf(", %.2f asked", least) : "" }

# What a copy engine must reach beside another program: 0.99 of a copy over the link; of one within the device all that
# nvbandwidth does. copy_engine moves 16 copies a sample, too few for the memory to settle, and is a little ahead there.
function least_beside(transfer, rival) {
    if (transfer == "device_local_copy") return rival == "nvbandwidth" ? 1.0 : 0
    return transfer == "host_to_device_memcpy_ce" || transfer == "device_to_host_memcpy_ce" ? 0.99 : 0
}

function beside(transfer, rival,    r, n, ours, theirs, ratio, least, middle) {
    for (r = 1; r <= rounds; ++r) {
        if (((transfer, "memsweep", r) in of_round) && ((transfer, rival, r) in of_round) && of_round[transfer, rival, r] > 0) {
            ours[++n] = of_round[transfer, "memsweep", r]
            theirs[n] = of_round[transfer, rival, r]
            ratio[n] = ours[n] / theirs[n]
        }
    }
    if (n == 0) return 0
    least = least_beside(transfer, rival)
    middle = median_of(ratio, n)  # sorts
    print verdict(middle, least), set "_" rival " " transfer,
        sprintf("%.4f of it (%.4f to %.4f in %d rounds%s); medians %.2f and %.2f %s", middle, ratio[1], ratio[n], n, asked(least),
                median_of(ours, n), median_of(theirs, n), transfer ~ /latency/ ? "ns" : "GB/s")
    return 1
}

function report_beside(    i, r, any, program, p) {
    split("memsweep nvbandwidth copy_engine", program, " ")
    if (csv != "") print "transfer,round,program,value,unit" >csv
    for (i = 1; i <= transfer_count; ++i) {
        any += beside(transfers[i], "nvbandwidth")
        any += beside(transfers[i], "copy_engine")
        for (r = 1; csv != "" && r <= rounds; ++r)
            for (p = 1; p <= 3; ++p)
                if ((transfers[i], program[p], r) in of_round)
                    printf "%s,%d,%s,%.6g,%s\n", transfers[i], r, program[p], of_round[transfers[i], program[p], r],
                        transfers[i] ~ /latency/ ? "ns" : "GB/s" >csv
    }
    if (!any) print "none", set, "no round has figures of two programs"
}

# Smallest ratio over the sizes, of each kind of memory that a driver gives.
function report_pool(    key, id, pooled, parts, resource, size, ratio, least, at, kinds, k) {
    for (key in value) {
        split(key, parts, SUBSEP)
        id = parts[1]
        if (parts[2] != "time_per_op" || id !~ /pool=none/ || id ~ /resource=malloc/) continue
        pooled = id
        sub(/pool=none/, "pool=classes", pooled)
        if (!((pooled, "time_per_op") in value) || value[pooled, "time_per_op"] <= 0) continue
        resource = size = id
        sub(/.*resource=/, "", resource)
        sub(/\/.*/, "", resource)
        sub(/.*size=/, "", size)
        ratio = value[key] / value[pooled, "time_per_op"]
        if (!(resource in least) || ratio < least[resource]) {
            least[resource] = ratio
            at[resource] = size
        }
    }
    split("pinned device", kinds, " ")
    for (k = 1; k <= 2; ++k) {
        if (kinds[k] in least)
            print verdict(least[kinds[k]], 2), "pool_above_driver " kinds[k],
                sprintf("the driver alone takes %.1f times as long at least, at %s%s", least[kinds[k]], at[kinds[k]], asked(2))
        else
            print "none", "pool_above_driver " kinds[k], "no case with and without a pool was measured"
    }
}

function report_staged(    way, w, key, ours, theirs) {
    split("host_to_device device_to_host", way, " ")
    for (w = 1; w <= 2; ++w) {
        ours = theirs = 0
        for (key in value) {
            if (key ~ "device=gpu0/transfer=" way[w] "_staged" SUBSEP "bandwidth") ours = value[key]
            if (key ~ "device=gpu0/transfer=" way[w] "_pageable" SUBSEP "bandwidth") theirs = value[key]
        }
        if (ours > 0 && theirs > 0)
            print verdict(ours / theirs, 1.3), "staging " way[w],
                sprintf("%.2f times the driver's copy of ordinary memory (%.2f and %.2f GB/s%s)", ours / theirs, ours / 1e9, theirs / 1e9, asked(1.3))
        else
            print "none", "staging " way[w], "the probe has not measured both ways"
    }
}

function report_counts(    id, count, text, kinds, k) {
    split("ok skipped failed error timeout", kinds, " ")
    for (id in status) ++count[status[id]]
    for (k = 1; k <= 5; ++k)
        if (count[kinds[k]] > 0) text = text (text == "" ? "" : ", ") count[kinds[k]] " " kinds[k]
    print "compared", "counts", text == "" ? "no case" : text
}

END {
    if (report == "beside") report_beside()
    else if (report == "pool") report_pool()
    else if (report == "staged") report_staged()
    else report_counts()
}
