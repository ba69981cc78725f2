/** The sum of many doubles, the root of the sum of their squares, and FNV-1a (64 bits) over their bytes, lowest first. */
final class Digest {
    private double sum = 0.0;
    private double squares = 0.0;
    private long fnv = 0xcbf29ce484222325L;

    Digest add(double[] values) {
        for (double value : values) {
            long bits = Double.doubleToRawLongBits(value);
            sum += value;
            squares += value * value;
            for (int shift = 0; shift < 64; shift += 8) {
                fnv = (fnv ^ (bits >>> shift & 0xff)) * 0x100000001b3L;
            }
        }
        return this;
    }

    Digest add(double[][] rows) {
        for (double[] row : rows) {
            add(row);
        }
        return this;
    }

    double sum() {
        return sum;
    }

    double l2() {
        return Math.sqrt(squares);
    }

    long fnv() {
        return fnv;
    }
}
