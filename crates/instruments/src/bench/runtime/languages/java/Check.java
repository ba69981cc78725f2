import java.io.PrintStream;

/**
 * What a kernel computed, in lines {@code check NAME VALUE} for whoever knows the right values; this program does not.
 * Doubles are printed as the 16 hexadecimal digits of their IEEE bits.
 */
final class Check {
    private final PrintStream out;

    Check(PrintStream out) {
        this.out = out;
    }

    void digest(String name, Digest digest) {
        real(name + ".sum", digest.sum());
        real(name + ".l2", digest.l2());
        line(name + ".fnv", hex(digest.fnv()));
    }

    void real(String name, double value) {
        line(name, bits(value));
    }

    void whole(String name, long value) {
        line(name, Long.toString(value));
    }

    private void line(String name, String value) {
        out.println("check " + name + " " + value);
    }

    static String bits(double value) {
        return hex(Double.doubleToRawLongBits(value));
    }

    private static String hex(long bits) {
        String digits = Long.toHexString(bits);
        return "x" + "0000000000000000".substring(digits.length()) + digits;
    }
}
