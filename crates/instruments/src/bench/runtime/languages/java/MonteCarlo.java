/**
 * Points of the unit square that fall into the quarter circle, which estimates pi. One cycle is one point.
 *
 * <p>SciMark2 counts 4 operations a point and nothing for its two random numbers, which take nearly all of the time.
 * Each run starts the generator afresh, from a seed of its own. The size changes nothing.
 */
final class MonteCarlo implements Kernel {
    private static final int SAMPLE_SEED = 113;

    private long hits = 0;

    @Override
    public void run(long cycles) {
        hits += hitsAmong(cycles);
    }

    private static long hitsAmong(long samples) {
        Random random = new Random(SAMPLE_SEED);
        long hits = 0;
        for (long sample = 0; sample < samples; sample++) {
            double x = random.nextDouble();
            double y = random.nextDouble();
            if (x * x + y * y <= 1.0) {
                hits++;
            }
        }
        return hits;
    }

    @Override
    public void check(Check check) {
        check.whole("hits.1000", hitsAmong(1000));
        check.whole("hits.100000", hitsAmong(100000));
    }

    @Override
    public double sum() {
        return hits;
    }
}
