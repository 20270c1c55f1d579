// Native buffers on a JVM: who still holds them when, and when does the collector come?
//
//   java OPTIONS Repro phases KIND COUNT BYTES
//   java OPTIONS Repro loop   KIND COUNT BYTES [GARBAGE]
//
// phases   allocates COUNT buffers, drops them, collects, drains; a line of text at each point
// loop     allocates and forgets one buffer after another; a row of CSV each
// KIND     direct       ByteBuffer.allocateDirect, released by the JDK's own cleaner, capped by MaxDirectMemorySize
//          directclose  the same, released at once
//          cleaner      native memory that a java.lang.ref.Cleaner releases
//          finalize     native memory that finalize() releases
//          explicit     native memory, released at once
// GARBAGE  bytes of a managed array per iteration, which is what fills the young generation
//
// What an iteration allocates on the managed heap, text formatting included, is part of the experiment: it decides when
// collections come. Change it, and every recording must be made again.

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

public class Repro {
    static final long PAGE_BYTES = 4096;
    static final long RESIDENT_CAP = 6L << 30;  // a loop that nobody collects must not take the machine down

    static final sun.misc.Unsafe UNSAFE = findUnsafe();
    static final Cleaner CLEANER = Cleaner.create();
    static final AtomicInteger allocated = new AtomicInteger();
    static final AtomicInteger freed = new AtomicInteger();

    static long baseline;
    static Object keep;

    static sun.misc.Unsafe findUnsafe() {
        try {
            var field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (sun.misc.Unsafe) field.get(null);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    static long allocateTouched(long bytes) {
        long address = UNSAFE.allocateMemory(bytes);
        for (long offset = 0; offset < bytes; offset += PAGE_BYTES) {
            UNSAFE.putByte(address + offset, (byte) 1);
        }
        allocated.incrementAndGet();
        return address;
    }

    static void release(long address) {
        UNSAFE.freeMemory(address);
        freed.incrementAndGet();
    }

    interface Buffer {
        default void close() {
        }
    }

    static class CleanedBuffer implements Buffer {
        CleanedBuffer(long bytes) {
            long address = allocateTouched(bytes);
            CLEANER.register(this, () -> release(address));
        }
    }

    @SuppressWarnings("removal")
    static class FinalizedBuffer implements Buffer {
        final long address;

        FinalizedBuffer(long bytes) {
            address = allocateTouched(bytes);
        }

        @Override
        protected void finalize() {
            release(address);
        }
    }

    static class ClosedBuffer implements Buffer {
        final long address;

        ClosedBuffer(long bytes) {
            address = allocateTouched(bytes);
        }

        @Override
        public void close() {
            release(address);
        }
    }

    static class DirectBuffer implements Buffer {
        final ByteBuffer buffer;

        DirectBuffer(long bytes) {
            buffer = ByteBuffer.allocateDirect((int) bytes);  // zeroes it, and so touches it
            allocated.incrementAndGet();
        }
    }

    static class ClosedDirectBuffer extends DirectBuffer {
        ClosedDirectBuffer(long bytes) {
            super(bytes);
        }

        @Override
        public void close() {
            UNSAFE.invokeCleaner(buffer);
            freed.incrementAndGet();
        }
    }

    static Buffer make(String kind, long bytes) {
        return switch (kind) {
            case "cleaner" -> new CleanedBuffer(bytes);
            case "finalize" -> new FinalizedBuffer(bytes);
            case "explicit" -> new ClosedBuffer(bytes);
            case "direct" -> new DirectBuffer(bytes);
            case "directclose" -> new ClosedDirectBuffer(bytes);
            default -> throw new IllegalArgumentException(kind);
        };
    }

    static long residentBytes() {
        try {
            return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * PAGE_BYTES;
        } catch (IOException failure) {
            throw new IllegalStateException(failure);
        }
    }

    static long collections() {
        long sum = 0;
        for (var collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            sum += collector.getCollectionCount();
        }
        return sum;
    }

    static long directBuffers() {
        for (var pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            if (pool.getName().equals("direct")) {
                return pool.getCount();
            }
        }
        return -1;
    }

    static int unreleased(String kind) {
        return kind.equals("direct") ? (int) directBuffers() : allocated.get() - freed.get();
    }

    static void printAt(String point, String kind) {
        System.out.printf(Locale.ROOT, "%-28s rss %6d MiB  unreleased %4d  gc %d%n", point,
                          (residentBytes() - baseline) >> 20, unreleased(kind), collections());
    }

    static void allocateAndDrop(String kind, int count, long bytes) {
        Buffer[] buffers = new Buffer[count];
        for (int i = 0; i < count; i++) {
            buffers[i] = make(kind, bytes);
        }
        printAt("after alloc", kind);
        if (kind.equals("explicit") || kind.equals("directclose")) {
            for (Buffer buffer : buffers) {
                buffer.close();
            }
        }
        Arrays.fill(buffers, null);
        printAt("after drop", kind);
    }

    @SuppressWarnings("removal")
    static void phases(String kind, int count, long bytes) throws InterruptedException {
        allocateAndDrop(kind, count, bytes);
        Thread.sleep(200);
        printAt("200 ms after drop", kind);
        System.gc();
        printAt("after System.gc", kind);
        long start = System.nanoTime();
        System.runFinalization();
        for (int i = 0; i < 2000 && unreleased(kind) > 0; i++) {
            Thread.sleep(1);
        }
        System.out.printf("waited %.2f ms%n", (System.nanoTime() - start) / 1e6);
        printAt("after drain", kind);
    }

    static void loop(String kind, int count, long bytes, int garbage) {
        System.out.println("i,t_ms,rss_mib,unreleased,gc0");
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            Buffer buffer;
            try {
                buffer = make(kind, bytes);
            } catch (OutOfMemoryError error) {
                System.err.println("OOM at " + i + " " + error.getMessage());
                break;
            }
            if (garbage > 0) {
                keep = new byte[garbage];
            }
            buffer.close();
            long resident = residentBytes() - baseline;
            buffer = null;
            System.out.printf(Locale.ROOT, "%d,%.2f,%.1f,%d,%d%n", i, (System.nanoTime() - start) / 1e6,
                              resident / 1048576.0, unreleased(kind), collections());
            if (resident > RESIDENT_CAP) {
                System.err.println("cap of 6 GiB at " + i);
                break;
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        String mode = arguments[0];
        String kind = arguments[1];
        int count = Integer.parseInt(arguments[2]);
        long bytes = Long.parseLong(arguments[3]);
        int garbage = arguments.length > 4 ? Integer.parseInt(arguments[4]) : 0;

        collections();  // loads what they need, so that the loop does not
        directBuffers();
        System.gc();
        Thread.sleep(200);
        baseline = residentBytes();

        if (mode.equals("phases")) {
            phases(kind, count, bytes);
        } else {
            loop(kind, count, bytes, garbage);
        }
        System.exit(0);  // do not wait for the cleaner's thread
    }
}
