/**
 * Points of the unit square that fall into the quarter circle, which estimates pi. One cycle is one point.
 *
 * <p>SciMark2 counts 4 operations a point and nothing for its two random numbers, which take nearly all of the time.
 * Each run starts the generator afresh, from a seed of its own. The size changes nothing.
 */
final class MonteCarlo implements Kernel {
    private static final int SAMPLE_SEED = 113;
    private static final int BLOCK = 1 << 30;

    private long hits = 0;

    @Override
    public void run(long cycles) {
        hits += hitsAmong(cycles);
    }

    /** In blocks: the compiler knows loops best that an int counts. */
    private static long hitsAmong(long samples) {
        Random random = new Random(SAMPLE_SEED);
        long hits = 0;
        for (long left = samples; left > 0; left -= BLOCK) {
            int block = (int) Math.min(left, BLOCK);
            int inBlock = 0;
            for (int sample = 0; sample < block; sample++) {
                double x = random.nextDouble();
                double y = random.nextDouble();
                if (x * x + y * y <= 1.0) {
                    inBlock++;
                }
            }
            hits += inBlock;
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
