/** One kernel. Its data come from a fresh generator and carry on from one run to the next. */
interface Kernel {
    /** The seed of all data; Monte Carlo's samples have their own. */
    int SEED = 101010;

    void run(long cycles);

    /** Does a known number of cycles on fresh data and says what came out. */
    void check(Check check);

    /** Depends on all that was computed. */
    double sum();
}
