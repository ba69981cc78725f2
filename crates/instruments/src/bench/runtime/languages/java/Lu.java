/**
 * Factors a dense square matrix into a lower and an upper triangle, with partial pivoting. One cycle is a copy of the
 * matrix and its factors.
 *
 * <p>SciMark2 counts 2/3 N^3 operations a cycle; the copy takes time and is not counted.
 */
final class Lu implements Kernel {
    private final double[][] matrix;
    private final double[][] lu;
    private final int[] pivots;

    Lu(Size size) {
        matrix = new Random(SEED).matrix(size.luSide, size.luSide);
        lu = new double[size.luSide][size.luSide];
        pivots = new int[size.luSide];
    }

    @Override
    public void run(long cycles) {
        for (long cycle = 0; cycle < cycles; cycle++) {
            copy(lu, matrix);
            factor(lu, pivots);
        }
    }

    private static void copy(double[][] to, double[][] from) {
        for (int i = 0; i < from.length; i++) {
            System.arraycopy(from[i], 0, to[i], 0, from[i].length);
        }
    }

    private static void factor(double[][] a, int[] pivots) {
        int side = a.length;
        for (int k = 0; k < side; k++) {
            int pivot = largest(a, k);
            pivots[k] = pivot;
            if (a[pivot][k] == 0.0) {
                throw new ArithmeticException("lu: the matrix is singular");
            }
            if (pivot != k) {
                double[] row = a[k];
                a[k] = a[pivot];
                a[pivot] = row;
            }
            double reciprocal = 1.0 / a[k][k];
            for (int i = k + 1; i < side; i++) {
                a[i][k] *= reciprocal;
            }
            for (int i = k + 1; i < side; i++) {
                double[] row = a[i];
                double[] upper = a[k];
                double multiple = row[k];
                for (int j = k + 1; j < side; j++) {
                    row[j] -= multiple * upper[j];
                }
            }
        }
    }

    /** The row, from {@code column} down, of the column's largest element; the first of equal ones. */
    private static int largest(double[][] a, int column) {
        int row = column;
        double most = Math.abs(a[column][column]);
        for (int i = column + 1; i < a.length; i++) {
            double size = Math.abs(a[i][column]);
            if (size > most) {
                row = i;
                most = size;
            }
        }
        return row;
    }

    @Override
    public void check(Check check) {
        run(1);
        check.digest("lu", new Digest().add(lu));
        long total = 0;
        long weighted = 0;
        for (int i = 0; i < pivots.length; i++) {
            total += pivots[i];
            weighted += (i + 1L) * pivots[i];
        }
        check.whole("pivot.0", pivots[0]);
        check.whole("pivot.sum", total);
        check.whole("pivot.weighted", weighted);
    }

    @Override
    public double sum() {
        return new Digest().add(lu).sum();
    }
}
