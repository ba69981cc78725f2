/**
 * Jacobi's successive over-relaxation of a square grid, omega 1.25. One cycle is one sweep over the inner points.
 *
 * <p>SciMark2 counts 6 (N - 1)^2 operations a sweep, though a sweep updates (N - 2)^2 points.
 */
final class Sor implements Kernel {
    private static final double OMEGA = 1.25;

    private final double[][] points;

    Sor(Size size) {
        points = new Random(SEED).matrix(size.sorSide, size.sorSide);
    }

    @Override
    public void run(long cycles) {
        sweep(points, cycles);
    }

    private static void sweep(double[][] points, long cycles) {
        double weightAround = OMEGA * 0.25;
        double weightOwn = 1.0 - OMEGA;
        int last = points.length - 1;
        for (long sweep = 0; sweep < cycles; sweep++) {
            for (int i = 1; i < last; i++) {
                double[] above = points[i - 1];
                double[] row = points[i];
                double[] below = points[i + 1];
                for (int j = 1; j < last; j++) {
                    row[j] = weightAround * (above[j] + below[j] + row[j - 1] + row[j + 1]) + weightOwn * row[j];
                }
            }
        }
    }

    /** A hundred sweeps of a large grid would take longer than a take. */
    @Override
    public void check(Check check) {
        int most = points.length > 100 ? 1 : 100;
        int done = 0;
        for (int sweeps = 1; sweeps <= most; sweeps *= 10) {
            run(sweeps - done);
            done = sweeps;
            check.digest("sweep" + sweeps, new Digest().add(points));
        }
    }

    @Override
    public double sum() {
        return new Digest().add(points).sum();
    }
}
