/**
 * A sparse matrix in compressed rows times a vector. One cycle is one product.
 *
 * <p>SciMark2 counts two operations for each element that is not zero. Rows have equally many of them, spread from the
 * first column to the diagonal.
 */
final class Sparse implements Kernel {
    private final double[] x;
    private final double[] y;
    private final double[] values;
    private final int[] columns;
    private final int[] starts;

    Sparse(Size size) {
        Random random = new Random(SEED);
        int rows = size.sparseRows;
        int inRow = size.sparseNonzeros / rows;
        x = random.vector(rows);
        y = new double[rows];
        values = random.vector(inRow * rows);
        columns = new int[inRow * rows];
        starts = new int[rows + 1];
        for (int row = 0; row < rows; row++) {
            int step = Math.max(1, row / inRow);
            starts[row + 1] = (row + 1) * inRow;
            for (int i = 0; i < inRow; i++) {
                columns[row * inRow + i] = i * step;
            }
        }
    }

    @Override
    public void run(long cycles) {
        multiply(y, values, starts, columns, x, cycles);
    }

    private static void multiply(double[] y, double[] values, int[] starts, int[] columns, double[] x, long cycles) {
        for (long cycle = 0; cycle < cycles; cycle++) {
            for (int row = 0; row < y.length; row++) {
                double total = 0.0;
                int end = starts[row + 1];
                for (int i = starts[row]; i < end; i++) {
                    total += x[columns[i]] * values[i];
                }
                y[row] = total;
            }
        }
    }

    @Override
    public void check(Check check) {
        run(1);
        check.digest("y", new Digest().add(y));
        check.whole("row.last", starts[starts.length - 1]);
        check.whole("col.last", columns[columns.length - 1]);
        long total = 0;
        for (int column : columns) {
            total += column;
        }
        check.whole("col.sum", total);
    }

    @Override
    public double sum() {
        return new Digest().add(y).sum();
    }
}
