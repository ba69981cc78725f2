/** SciMark2's problem sizes. */
enum Size {
    TINY(16, 10, 10, 50, 10),
    SMALL(1024, 100, 1000, 5000, 100),
    LARGE(1048576, 1000, 100000, 1000000, 1000);

    final int fftPoints;
    final int sorSide;
    final int sparseRows;
    final int sparseNonzeros;
    final int luSide;

    Size(int fftPoints, int sorSide, int sparseRows, int sparseNonzeros, int luSide) {
        this.fftPoints = fftPoints;
        this.sorSide = sorSide;
        this.sparseRows = sparseRows;
        this.sparseNonzeros = sparseNonzeros;
        this.luSide = luSide;
    }
}
