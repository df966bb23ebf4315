import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** B3: cost per operation on a ForkJoinPool. The numbers of jobs and operations are those of the Swift cases. */
final class Cost {
    private static final ForkJoinPool pool =
        new ForkJoinPool(Work.processors, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true);

    private interface Batch { void run() throws Exception; }

    /** {@code null} for a case that Java does not have. */
    static Map<String, Object> run(String name, double seconds) throws Exception {
        AtomicLong submitting = new AtomicLong(), submitted = new AtomicLong();
        Map<String, Object> figures = switch (name) {
            case "yield" -> measure(seconds, 50_000, Cost::yields);
            case "group" -> measure(seconds, 20_000, () -> pool.submit(Cost::group).get());
            case "detached" -> measure(seconds, 20_000, () -> pool.submit(Cost::detached).get());
            case "outside" -> measure(seconds, 20_000, () -> {
                submitting.addAndGet(outside());
                submitted.addAndGet(20_000);
            });
            default -> null;
        };
        if (submitted.get() > 0) figures.put("submit_cpu_ns_per_op", (double) submitting.get() / submitted.get());
        return figures;
    }

    /** Runs batches for a second to warm up, so that they have been compiled, then until the time is up. */
    private static Map<String, Object> measure(double seconds, int operations, Batch batch) throws Exception {
        repeat(1, batch);
        long start = System.nanoTime(), used = Work.processTime();
        double count = (double) repeat(seconds, batch) * operations;
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("ns_per_op", (System.nanoTime() - start) / count);
        figures.put("cpu_ns_per_op", (Work.processTime() - used) / count);
        return figures;
    }

    private static int repeat(double seconds, Batch batch) throws Exception {
        long deadline = System.nanoTime() + (long) (seconds * 1e9);
        int batches = 0;
        do {
            batch.run();
            batches++;
        } while (System.nanoTime() < deadline);
        return batches;
    }

    /** 100 jobs that submit themselves again where a task would yield. */
    private static void yields() throws Exception {
        CountDownLatch ended = new CountDownLatch(100);
        for (int i = 0; i < 100; i++) {
            pool.execute(new Runnable() {
                private int left = 500;

                @Override public void run() {
                    if (left-- > 0) pool.execute(this);
                    else ended.countDown();
                }
            });
        }
        ended.await();
    }

    /** 64 forks under way, the oldest is joined. */
    private static void group() {
        ArrayDeque<ForkJoinTask<Integer>> forks = new ArrayDeque<>();
        for (int i = 0; i < 20_000; i++) {
            int number = i;
            if (i >= 64) forks.poll().join();
            forks.add(ForkJoinTask.adapt(() -> number).fork());
        }
        while (!forks.isEmpty()) forks.poll().join();
    }

    private static void detached() {
        for (int i = 0; i < 20_000; i++) {
            int number = i;
            ForkJoinTask.adapt(() -> number).fork().join();
        }
    }

    /** From a thread that is not the pool's, up to 256 unfinished; that thread's time. */
    private static long outside() throws InterruptedException {
        AtomicInteger finished = new AtomicInteger();
        long start = Work.threadTime();
        for (int number = 1; number <= 20_000; number++) {
            while (number - finished.get() > 256) Thread.onSpinWait();
            pool.execute(finished::incrementAndGet);
        }
        long used = Work.threadTime() - start;
        while (finished.get() < 20_000) Thread.onSpinWait();
        return used;
    }
}
