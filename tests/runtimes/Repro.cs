// Native buffers that a finalizer owns, on Mono: who still holds them when, and when does the collector come?
//
// A buffer hangs on a chain of plain managed objects, as an array library builds it: NDArray -> Storage -> Block ->
// Disposer. Only the Disposer has a finalizer, and only the Disposer knows the native memory.
//
//   mono Repro.exe phases  COUNT BYTES nopressure|pressure
//   mono Repro.exe loop    COUNT BYTES nopressure|pressure [GARBAGE [SLOW_US]]
//   mono Repro.exe dispose COUNT BYTES nopressure|pressure [GARBAGE]
//
// phases   allocates COUNT buffers, drops them, collects, drains; a line of text at each point
// loop     allocates and forgets one buffer after another; a row of CSV each
// dispose  the same, but releases each buffer at once
// pressure tells the collector of the native bytes (GC.AddMemoryPressure)
// GARBAGE  bytes of a managed array per iteration, which is what makes the collector run at all
// SLOW_US  how long every finalizer keeps its thread busy
//
// What an iteration allocates on the managed heap, text formatting included, is part of the experiment: it decides when
// collections come. Change it, and every recording must be made again.

using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

sealed class Disposer
{
    public static int Allocated, Freed;
    public static int SlowMicroseconds;

    const int PageBytes = 4096;

    IntPtr memory;
    long bytes;
    bool pressure;
    int released;

    public Disposer(long bytes, bool pressure)
    {
        this.bytes = bytes;
        this.pressure = pressure;
        memory = Marshal.AllocHGlobal((IntPtr)bytes);
        TouchEveryPage();
        if (pressure)
            GC.AddMemoryPressure(bytes);
        Interlocked.Increment(ref Allocated);
    }

    ~Disposer()
    {
        Release(true);
    }

    public void Release(bool byFinalizer)
    {
        if (Interlocked.Exchange(ref released, 1) != 0)
            return;
        if (byFinalizer && SlowMicroseconds > 0)
            Spin(SlowMicroseconds);
        Marshal.FreeHGlobal(memory);
        if (pressure)
            GC.RemoveMemoryPressure(bytes);
        Interlocked.Increment(ref Freed);
        if (!byFinalizer)
            GC.SuppressFinalize(this);
    }

    unsafe void TouchEveryPage()
    {
        byte* start = (byte*)memory;
        for (long offset = 0; offset < bytes; offset += PageBytes)
            start[offset] = 1;
    }

    static void Spin(int microseconds)
    {
        var clock = Stopwatch.StartNew();
        while (clock.ElapsedTicks * 1e6 / Stopwatch.Frequency < microseconds) {
        }
    }
}

sealed class Block
{
    public Disposer Owner;

    public Block(long bytes, bool pressure)
    {
        Owner = new Disposer(bytes, pressure);
    }
}

sealed class Storage
{
    public Block Block;

    public Storage(long bytes, bool pressure)
    {
        Block = new Block(bytes, pressure);
    }
}

sealed class NDArray
{
    public Storage Storage;

    public NDArray(long bytes, bool pressure)
    {
        Storage = new Storage(bytes, pressure);
    }

    public void Dispose()
    {
        Storage.Block.Owner.Release(false);
    }
}

static class Repro
{
    const long PageBytes = 4096;
    const long ResidentCap = 6L << 30;  // a loop that nobody collects must not take the machine down

    static long baseline;

    static long ResidentBytes()
    {
        var fields = File.ReadAllText("/proc/self/statm").Split(' ');
        return long.Parse(fields[1]) * PageBytes;
    }

    static int Unreleased()
    {
        return Disposer.Allocated - Disposer.Freed;
    }

    static string At(string point)
    {
        return string.Format("{0,-28} rss {1,6} MiB  unreleased {2,4}  gc {3}/{4}/{5}", point,
                             (ResidentBytes() - baseline) >> 20, Unreleased(), GC.CollectionCount(0),
                             GC.CollectionCount(1), GC.CollectionCount(2));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AllocateAndDrop(int count, long bytes, bool pressure)
    {
        var arrays = new NDArray[count];
        for (int i = 0; i < count; i++)
            arrays[i] = new NDArray(bytes, pressure);
        Console.WriteLine(At("after alloc"));
        for (int i = 0; i < count; i++)
            arrays[i] = null;
        arrays = null;
        Console.WriteLine(At("after drop"));
    }

    static void Phases(int count, long bytes, bool pressure)
    {
        // On a thread of its own: Mono scans stacks conservatively, and a stale slot would keep arrays alive.
        var thread = new Thread(() => AllocateAndDrop(count, bytes, pressure));
        thread.Start();
        thread.Join();
        Thread.Sleep(200);
        Console.WriteLine(At("200 ms after drop"));
        GC.Collect();
        Console.WriteLine(At("after GC.Collect"));
        var clock = Stopwatch.StartNew();
        GC.WaitForPendingFinalizers();
        Console.WriteLine(At("after WaitForPendingFin.") + "  waited " +
                          clock.Elapsed.TotalMilliseconds.ToString("F2") + " ms");
        GC.Collect();
        Console.WriteLine(At("after 2nd GC.Collect"));
    }

    static void Loop(int count, long bytes, bool pressure, int garbage, bool dispose)
    {
        Console.WriteLine("i,t_ms,rss_mib,unreleased,gc0,gc1,gc2");
        var clock = Stopwatch.StartNew();
        object keep = null;
        for (int i = 0; i < count; i++) {
            var array = new NDArray(bytes, pressure);
            if (garbage > 0)
                keep = new byte[garbage];
            if (dispose)
                array.Dispose();
            long resident = ResidentBytes() - baseline;
            Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0},{1:F2},{2:F1},{3},{4},{5},{6}", i,
                                            clock.Elapsed.TotalMilliseconds, resident / 1048576.0, Unreleased(),
                                            GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2)));
            if (resident > ResidentCap) {
                Console.Error.WriteLine("cap of 6 GiB reached at i=" + i);
                break;
            }
        }
        GC.KeepAlive(keep);
    }

    static int Main(string[] arguments)
    {
        string mode = arguments[0];
        int count = int.Parse(arguments[1]);
        long bytes = long.Parse(arguments[2]);
        bool pressure = arguments[3] == "pressure";
        int garbage = arguments.Length > 4 ? int.Parse(arguments[4]) : 0;
        Disposer.SlowMicroseconds = arguments.Length > 5 ? int.Parse(arguments[5]) : 0;

        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        baseline = ResidentBytes();

        if (mode == "phases")
            Phases(count, bytes, pressure);
        else
            Loop(count, bytes, pressure, garbage, mode == "dispose");
        return 0;
    }
}
