/**
 * SciMark2's generator: a subtractive lagged Fibonacci sequence of 17 numbers below 2^31 - 1, as numbers in [0, 1].
 *
 * <p>{@code nextDouble} is synchronized, as in the original: what a lock costs that nobody else wants is part of what
 * Monte Carlo measures in Java. So is the question, asked with each number, whether it was made for another range than
 * [0, 1]; none of these is.
 */
final class Random {
    private static final int LAGS = 17;
    private static final int MODULUS = 2147483647;
    private static final int HALF_WORD = 65536;
    private static final int MULTIPLIER = 9069;
    private static final double SCALE = 1.0 / MODULUS;

    private final int[] lags = new int[LAGS];
    private int minuend = 4;
    private int place = LAGS - 1;
    private boolean ranged = false;
    private double low = 0.0;
    private double width = 1.0;

    Random(int seed) {
        int state = Math.abs(seed);
        if (state % 2 == 0) {
            state--;
        }
        int low = state % HALF_WORD;
        int high = state / HALF_WORD;
        for (int i = 0; i < LAGS; i++) {
            int product = low * MULTIPLIER;
            high = (product / HALF_WORD + high * MULTIPLIER) % (HALF_WORD / 2);
            low = product % HALF_WORD;
            lags[i] = low + HALF_WORD * high;
        }
    }

    synchronized double nextDouble() {
        int number = lags[minuend] - lags[place];
        if (number < 0) {
            number += MODULUS;
        }
        lags[place] = number;
        minuend = minuend == 0 ? LAGS - 1 : minuend - 1;
        place = place == 0 ? LAGS - 1 : place - 1;
        double fraction = SCALE * number;
        return ranged ? low + fraction * width : fraction;
    }

    double[] vector(int count) {
        double[] vector = new double[count];
        for (int i = 0; i < count; i++) {
            vector[i] = nextDouble();
        }
        return vector;
    }

    double[][] matrix(int rows, int columns) {
        double[][] matrix = new double[rows][];
        for (int i = 0; i < rows; i++) {
            matrix[i] = vector(columns);
        }
        return matrix;
    }
}
