import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;

/** Work measured in the thread's processor time, and threads that stand for the world outside. */
final class Work {
    static final int processors = Runtime.getRuntime().availableProcessors();

    private static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private static double roundsPerNanosecond = 1;
    private static volatile long sink;

    static long threadTime() { return threads.getCurrentThreadCpuTime(); }

    static long processTime() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static long rounds(long value, long count) {
        for (long i = 0; i < count; i++) value = value * 6364136223846793005L + 1442695040888963407L;
        return value;
    }

    /** Finds how many rounds take a nanosecond; often enough that the loop has been compiled. */
    static void calibrate() {
        double best = 0;
        for (int attempt = 0; attempt < 200; attempt++) {
            long start = threadTime();
            sink = rounds(sink | 1, 200_000);
            best = Math.max(best, 200_000.0 / Math.max(1, threadTime() - start));
        }
        roundsPerNanosecond = best;
        for (int i = 0; i < 200; i++) use(100_000);
    }

    /** Uses that much thread time, in pieces of 20 µs with a look at the clock after each; what it used. */
    static long use(long nanoseconds) {
        final long piece = 20_000;
        long start = threadTime(), used = 0;
        while (used < nanoseconds) {
            long left = Math.min(nanoseconds - used, piece);
            sink = rounds(sink | 1, (long) (left * roundsPerNanosecond) + 1);
            used = threadTime() - start;
        }
        return used;
    }

    /** Asks for real time, where the user may have it: the thread stands for the world outside. */
    static void becomeOutsideWorld() throws Exception {
        String thread = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
        new ProcessBuilder("chrt", "--fifo", "--reset-on-fork", "--pid", "1", thread)
            .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor();
    }
}
