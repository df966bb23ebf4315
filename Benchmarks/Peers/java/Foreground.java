import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * B1: jobs of 300 µs that arrive at random, beside 24 that work and submit themselves again. On a fixed pool: the workers of a
 * ForkJoinPool would never look at what arrives from outside while their own queues have something.
 */
final class Foreground {
    private static final long job = 300_000;

    /** Arrivals in nanoseconds from the start: the generator of RandomArrivals, with its seed. */
    private static long[] arrivals(double load, double seconds) {
        double meanGap = job / (load * Work.processors), moment = 0;
        long state = 1;
        List<Long> all = new ArrayList<>();
        while (moment < seconds * 1e9) {
            state += 0x9E3779B97F4A7C15L;
            long mixed = state;
            mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
            mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
            mixed ^= mixed >>> 31;
            moment -= meanGap * Math.log(((mixed >>> 11) + 0.5) / (1L << 53));
            all.add((long) moment);
        }
        return all.stream().mapToLong(Long::longValue).toArray();
    }

    static Map<String, Object> run(double load, long piece, double seconds) throws Exception {
        long[] times = arrivals(load, seconds);
        ExecutorService pool = Executors.newFixedThreadPool(Work.processors);
        LowWork low = new LowWork(pool, piece);
        for (int i = 0; i < (piece > 0 ? 24 : 0); i++) pool.execute(low);
        long[] sojourns = new long[times.length], lateness = new long[times.length];
        CountDownLatch finished = new CountDownLatch(times.length);
        AtomicLong residual = new AtomicLong(), outsideTime = new AtomicLong();
        Thread outside = new Thread(() -> {
            try {
                Work.becomeOutsideWorld();
            } catch (Exception error) {
                Bench.fail("the outside thread: " + error);
            }
            long start = System.nanoTime() + 100_000_000;
            sleepUntil(start);
            residual.set(-low.used.get());
            outsideTime.set(-Work.threadTime());
            for (int i = 0; i < times.length; i++) {
                int number = i;
                long intended = start + times[i];
                sleepUntil(intended);
                lateness[i] = System.nanoTime() - intended;
                pool.execute(() -> {
                    Work.use(job);
                    sojourns[number] = System.nanoTime() - intended;
                    finished.countDown();
                });
            }
            residual.addAndGet(low.used.get());
            low.isOver = true;
            outsideTime.addAndGet(Work.threadTime());
        });
        outside.start();
        outside.join();
        finished.await();
        double length = times[times.length - 1];
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("sojourn", sojourns);
        figures.put("arrival", lateness);
        figures.put("outside_cores", outsideTime.get() / length);
        if (piece > 0) figures.put("residual_fraction", residual.get() / (Work.processors * (1 - load) * length));
        return figures;
    }

    private static void sleepUntil(long deadline) {
        for (long left = deadline - System.nanoTime(); left > 0; left = deadline - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static final class LowWork implements Runnable {
        final AtomicLong used = new AtomicLong();
        volatile boolean isOver;
        private final ExecutorService pool;
        private final long piece;

        LowWork(ExecutorService pool, long piece) {
            this.pool = pool;
            this.piece = piece;
        }

        @Override public void run() {
            if (isOver) return;
            used.addAndGet(Work.use(piece));
            pool.execute(this);
        }
    }
}
