/**
 * Fourier transform of complex numbers, in place, of radix 2. One cycle is a transform and the inverse one.
 *
 * <p>SciMark2 counts (5 N - 2) log2 N + 2 (N + 1) operations a cycle, which is one transform of the two. Real and
 * imaginary parts alternate in one array.
 */
final class Fft implements Kernel {
    private final int count;
    private final double[] data;

    Fft(Size size) {
        count = size.fftPoints;
        data = new Random(SEED).vector(2 * count);
    }

    @Override
    public void run(long cycles) {
        for (long cycle = 0; cycle < cycles; cycle++) {
            transform(data, -1);
            inverse(data);
        }
    }

    /** Swaps each point with the one whose index has the same bits in reverse, where that stands behind it. */
    private static void reverseBits(double[] data) {
        int count = data.length / 2;
        int reversed = 0;
        for (int i = 0; i < count - 1; i++) {
            if (i < reversed) {
                double re = data[2 * i];
                double im = data[2 * i + 1];
                data[2 * i] = data[2 * reversed];
                data[2 * i + 1] = data[2 * reversed + 1];
                data[2 * reversed] = re;
                data[2 * reversed + 1] = im;
            }
            // Adds one to the reversed index: the carry runs from the highest bit down.
            int bit = count >> 1;
            while (bit <= reversed) {
                reversed -= bit;
                bit >>= 1;
            }
            reversed += bit;
        }
    }

    /** Direction -1 is forward, +1 is inverse without its factor. */
    private static void transform(double[] data, int direction) {
        int count = data.length / 2;
        reverseBits(data);
        for (int half = 1; half < count; half *= 2) {
            double angle = direction * Math.PI / half;
            double sine = Math.sin(angle);
            double halfSine = Math.sin(angle / 2.0);
            double versine = 2.0 * halfSine * halfSine;
            double re = 1.0;
            double im = 0.0;
            for (int block = 0; block < count; block += 2 * half) {
                int odd = 2 * (block + half);
                butterfly(data, 2 * block, odd, data[odd], data[odd + 1]);
            }
            for (int offset = 1; offset < half; offset++) {
                // Turns the factor by the angle.
                double turned = re - sine * im - versine * re;
                im = im + sine * re - versine * im;
                re = turned;
                for (int block = 0; block < count; block += 2 * half) {
                    int even = 2 * (block + offset);
                    int odd = 2 * (block + offset + half);
                    double oddRe = data[odd];
                    double oddIm = data[odd + 1];
                    butterfly(data, even, odd, re * oddRe - im * oddIm, re * oddIm + im * oddRe);
                }
            }
        }
    }

    private static void butterfly(double[] data, int even, int odd, double re, double im) {
        data[odd] = data[even] - re;
        data[odd + 1] = data[even + 1] - im;
        data[even] += re;
        data[even + 1] += im;
    }

    private static void inverse(double[] data) {
        transform(data, 1);
        double factor = 1.0 / (data.length / 2);
        for (int i = 0; i < data.length; i++) {
            data[i] *= factor;
        }
    }

    @Override
    public void check(Check check) {
        transform(data, -1);
        check.digest("forward", new Digest().add(data));
        inverse(data);
        check.digest("inverse", new Digest().add(data));
        check.real("rms", difference());
    }

    /** The root of the mean square of what differs from the input, which is generated once more. */
    private double difference() {
        Random random = new Random(SEED);
        double squares = 0.0;
        for (double value : data) {
            double difference = value - random.nextDouble();
            squares += difference * difference;
        }
        return Math.sqrt(squares / data.length);
    }

    @Override
    public double sum() {
        return new Digest().add(data).sum();
    }
}
