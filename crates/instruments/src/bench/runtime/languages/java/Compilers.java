import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;

/**
 * When the compilers of this virtual machine last worked: by their own counter of time, which moves when a method is
 * done, and by the CPU time of all threads but the one that calculates, which moves meanwhile.
 */
final class Compilers {
    /** Without work for so long, and for so many iterations. */
    private static final long QUIET_NS = 250_000_000L;
    private static final int QUIET_ITERATIONS = 20;
    /**
     * The same where there is a compiler. HotSpot compiles a method with loops for the last time after 600 calls, which
     * are as many iterations; until then the compilers rest although they are not done.
     */
    private static final int QUIET_CALLS = 1000;
    /** How often the other threads are looked at. The process's time moves in steps of 10 ms. */
    private static final long LOOK_NS = 100_000_000L;
    private static final long USED_NS = 25_000_000L;

    private final CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    private final OperatingSystemMXBean process = ManagementFactory.getOperatingSystemMXBean();
    private long compiledMs = compiledMs();
    private long workedNs = System.nanoTime();
    private int worked;
    private long lookedNs = workedNs;
    private long othersNs = othersNs();

    /** Looks, after so many iterations. */
    void look(int iterations) {
        long now = System.nanoTime();
        long compiled = compiledMs();
        boolean works = compiled != compiledMs;
        compiledMs = compiled;
        if (now - lookedNs >= LOOK_NS) {
            long others = othersNs();
            works |= others - othersNs >= USED_NS;
            othersNs = others;
            lookedNs = now;
        }
        if (works) {
            worked = iterations;
            workedNs = now;
        }
    }

    /** How many iterations were done when the compilers were last seen to work; 0 if they never were. */
    int worked() {
        return worked;
    }

    boolean areQuiet(int iterations) {
        int least = compiler == null ? QUIET_ITERATIONS : QUIET_CALLS;
        return iterations - worked >= least && System.nanoTime() - workedNs >= QUIET_NS;
    }

    private long compiledMs() {
        boolean tells = compiler != null && compiler.isCompilationTimeMonitoringSupported();
        return tells ? compiler.getTotalCompilationTime() : 0;
    }

    /** CPU time of the threads that do not calculate; it stands still where the virtual machine does not tell. */
    private long othersNs() {
        if (!(process instanceof com.sun.management.OperatingSystemMXBean)) {
            return 0;
        }
        long all = ((com.sun.management.OperatingSystemMXBean) process).getProcessCpuTime();
        return all < 0 ? 0 : all - Times.threadNs();
    }
}
