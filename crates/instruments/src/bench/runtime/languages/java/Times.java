import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** How long some cycles took, in nanoseconds: CPU time of the thread, wall time, and when they were over. */
final class Times {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    final long cpuNs;
    final long wallNs;
    final long endNs;

    Times(Kernel kernel, long cycles) {
        long wall = System.nanoTime();
        long cpu = THREADS.getCurrentThreadCpuTime();
        kernel.run(cycles);
        cpuNs = THREADS.getCurrentThreadCpuTime() - cpu;
        endNs = System.nanoTime();
        wallNs = endNs - wall;
    }

    /** CPU time of this thread. */
    static long threadNs() {
        return THREADS.getCurrentThreadCpuTime();
    }

    static void require() {
        if (!THREADS.isCurrentThreadCpuTimeSupported() || !THREADS.isThreadCpuTimeEnabled()) {
            throw new UnsupportedOperationException("this virtual machine does not tell the CPU time of a thread");
        }
    }
}
