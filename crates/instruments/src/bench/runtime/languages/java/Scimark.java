import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;

/**
 * The kernels of SciMark2 as one short-lived program: checks what a kernel computes, times it, or shows how it warms up.
 *
 * <pre>
 *   Scimark KERNEL SIZE check
 *   Scimark KERNEL SIZE time MIN_SECONDS
 *   Scimark KERNEL SIZE warmup ITERATIONS CYCLES MOST_SECONDS
 * </pre>
 *
 * <p>A warm-up has ITERATIONS or more: it ends when the compilers have rested, MOST_SECONDS are over, or there are
 * {@value #MOST} iterations.
 *
 * <p>Times are in nanoseconds: the CPU time of the thread, then wall time. The threads of the virtual machine (compiler,
 * collector) are in the wall time alone. Making and checking the data are not timed. Exit code 2 is a wrong command
 * line, 1 a failure; both say why on stderr.
 */
final class Scimark {
    /** Iterations of a warm-up. */
    private static final int MOST = 300_000;
    private static final PrintStream OUT =
        new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)), false);

    private Scimark() {
    }

    public static void main(String[] arguments) {
        int code = 0;
        try {
            obey(arguments);
            OUT.println("end");
        } catch (IllegalArgumentException error) {
            code = complain(2, error.getMessage());
        } catch (OutOfMemoryError error) {
            code = complain(1, "out of memory: " + error.getMessage());
        } catch (ArithmeticException | UnsupportedOperationException error) {
            code = complain(1, error.getMessage());
        }
        OUT.flush();
        if (OUT.checkError() && code == 0) {
            code = complain(1, "the results cannot be written");
        }
        System.exit(code);
    }

    private static int complain(int code, String message) {
        System.err.println("scimark: " + message);
        return code;
    }

    private static void obey(String[] arguments) {
        String task = arguments.length > 2 ? arguments[2] : "";
        if (arguments.length == 3 && task.equals("check")) {
            check(arguments[0], size(arguments[1]));
        } else if (arguments.length == 4 && task.equals("time")) {
            Size size = size(arguments[1]);
            double minSeconds = seconds(arguments[3]);
            check(arguments[0], size);
            timeBatches(kernel(arguments[0], size), minSeconds);
        } else if (arguments.length == 6 && task.equals("warmup")) {
            int iterations = count(arguments[3]);
            int cycles = count(arguments[4]);
            warmUp(kernel(arguments[0], size(arguments[1])), iterations, cycles, seconds(arguments[5]));
        } else {
            throw new IllegalArgumentException(
                "usage: Scimark KERNEL SIZE check | time MIN_SECONDS | warmup ITERATIONS CYCLES MOST_SECONDS");
        }
    }

    private static void check(String name, Size size) {
        kernel(name, size).check(new Check(OUT));
        OUT.flush();
    }

    /** Doubles the cycles until a batch takes the least time; that one counts. The data carry on from batch to batch. */
    private static void timeBatches(Kernel kernel, double minSeconds) {
        Times.require();
        StringBuilder lines = new StringBuilder();
        long cycles = 1;
        while (true) {
            Times took = new Times(kernel, cycles);
            lines.append("batch " + cycles + " " + took.cpuNs + " " + took.wallNs + " " + took.endNs + "\n");
            if (took.cpuNs >= minSeconds * 1e9) {
                break;
            }
            cycles = Math.multiplyExact(cycles, 2);
        }
        OUT.print(lines);
        OUT.println("sum " + Check.bits(kernel.sum()));
    }

    private static void warmUp(Kernel kernel, int iterations, int cycles, double mostSeconds) {
        Times.require();
        long[] cpuNs = new long[MOST];
        long[] wallNs = new long[MOST];
        Compilers compilers = new Compilers();
        long startNs = System.nanoTime();
        int done = 0;
        boolean areQuiet = false;
        while (done < iterations || !areQuiet) {
            if (done == MOST || (done >= iterations && System.nanoTime() - startNs >= mostSeconds * 1e9)) {
                break;
            }
            Times took = new Times(kernel, cycles);
            cpuNs[done] = took.cpuNs;
            wallNs[done] = took.wallNs;
            done++;
            compilers.look(done);
            areQuiet = compilers.areQuiet(done);
        }
        for (int i = 0; i < done; i++) {
            OUT.println("iteration " + cpuNs[i] + " " + wallNs[i]);
        }
        OUT.println("compilers " + (areQuiet ? "quiet " : "busy ") + compilers.worked());
        OUT.println("sum " + Check.bits(kernel.sum()));
    }

    private static Kernel kernel(String name, Size size) {
        switch (name) {
            case "fft":
                return new Fft(size);
            case "sor":
                return new Sor(size);
            case "monte-carlo":
                return new MonteCarlo();
            case "sparse":
                return new Sparse(size);
            case "lu":
                return new Lu(size);
            default:
                throw new IllegalArgumentException("no such kernel (fft, sor, monte-carlo, sparse, lu): " + name);
        }
    }

    private static Size size(String name) {
        for (Size size : Size.values()) {
            if (size.name().toLowerCase(java.util.Locale.ROOT).equals(name)) {
                return size;
            }
        }
        throw new IllegalArgumentException("no such size (tiny, small, large): " + name);
    }

    private static double seconds(String text) {
        try {
            double seconds = Double.parseDouble(text);
            if (seconds >= 0.0 && seconds <= 3600.0) {
                return seconds;
            }
        } catch (NumberFormatException error) {
            // Said below.
        }
        throw new IllegalArgumentException("not a number of seconds from 0 to 3600: " + text);
    }

    private static int count(String text) {
        try {
            int count = Integer.parseInt(text);
            if (count >= 1 && count <= 1000000) {
                return count;
            }
        } catch (NumberFormatException error) {
            // Said below.
        }
        throw new IllegalArgumentException("not a number from 1 to 1000000: " + text);
    }
}
