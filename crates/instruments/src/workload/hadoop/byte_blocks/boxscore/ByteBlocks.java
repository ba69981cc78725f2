package boxscore;

import java.io.IOException;

import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.JobConfigurable;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;

/**
 * Files as blocks of bytes, each with its offset. The mapper finds the lines: one by one through the JVM they take
 * most of the time of a job.
 *
 * <p>A split has the lines that begin in it, whole; a line ends at a line feed. Files whose names end in one of the
 * words of {@code boxscore.whole} are packed: each is one split and comes as it lies there, whatever codecs there are.
 */
public final class ByteBlocks extends FileInputFormat<LongWritable, BytesWritable> implements JobConfigurable {
    private String[] packed = {};

    @Override
    public void configure(JobConf job) {
        packed = job.getStrings("boxscore.whole", packed);
    }

    @Override
    protected boolean isSplitable(FileSystem files, Path file) {
        for (String ending : packed) {
            if (file.getName().endsWith(ending)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public RecordReader<LongWritable, BytesWritable> getRecordReader(InputSplit split, JobConf job, Reporter reporter)
            throws IOException {
        FileSplit part = (FileSplit) split;
        FileSystem files = part.getPath().getFileSystem(job);
        reporter.setStatus(part.toString());
        return new Reader(part, files, isSplitable(files, part.getPath()));
    }

    /** The blocks of a split. */
    private static final class Reader implements RecordReader<LongWritable, BytesWritable> {
        private static final int BLOCK = 256 * 1024;
        private final Path path;
        private final FSDataInputStream in;
        private final long start;
        private final long end;
        private final boolean hasLines;
        /** The offset of the next byte that is read. */
        private long next;
        /** True once the first line of the split was met. */
        private boolean hasBegun;
        private boolean isDone;

        Reader(FileSplit split, FileSystem files, boolean hasLines) throws IOException {
            this.hasLines = hasLines;
            start = split.getStart();
            end = start + split.getLength();
            hasBegun = !hasLines || start == 0;
            // The byte before tells whether a line begins at the first.
            next = hasBegun ? start : start - 1;
            path = split.getPath();
            in = files.open(path);
            in.seek(next);
        }

        @Override
        public boolean next(LongWritable key, BytesWritable value) throws IOException {
            value.setCapacity(BLOCK);
            byte[] bytes = value.getBytes();
            while (!isDone) {
                long offset = next;
                int length = fill(bytes);
                next += length;
                int from = hasBegun ? 0 : begin(bytes, length, offset);
                int to = hasBegun ? stop(bytes, from, length, offset) : from;
                if (from < to) {
                    if (from > 0) {
                        System.arraycopy(bytes, from, bytes, 0, to - from);
                    }
                    value.setSize(to - from);
                    key.set(offset + from);
                    return true;
                }
            }
            value.setSize(0);
            return false;
        }

        /** Reads a block; less of one only at the end of the file. */
        private int fill(byte[] bytes) throws IOException {
            int length = 0;
            while (length < BLOCK) {
                int more = in.read(bytes, length, BLOCK - length);
                if (more < 0) {
                    isDone = true;
                    if (next + length < end) {
                        throw new IOException(path + ": became shorter: " + (next + length) + " of " + end + " bytes");
                    }
                    break;
                }
                length += more;
            }
            return length;
        }

        /** Where in a block the first line begins. */
        private int begin(byte[] bytes, int length, long offset) {
            int from = afterFeed(bytes, 0, length);
            // A line that begins at the end is of the next split.
            hasBegun = from <= length && offset + from < end;
            isDone |= offset + from >= end;
            return from;
        }

        /** Where in a block the last line ends, or the block. */
        private int stop(byte[] bytes, int from, int length, long offset) {
            if (!hasLines || offset + length < end) {
                return length;
            }
            // The last line has the last byte of the split.
            int to = afterFeed(bytes, (int) Math.max(from, end - 1 - offset), length);
            isDone |= to <= length;
            return Math.min(to, length);
        }

        /** The place behind the next line feed; behind the end where there is none. */
        private static int afterFeed(byte[] bytes, int from, int length) {
            for (int place = from; place < length; place++) {
                if (bytes[place] == '\n') {
                    return place + 1;
                }
            }
            return length + 1;
        }

        @Override
        public LongWritable createKey() {
            return new LongWritable();
        }

        @Override
        public BytesWritable createValue() {
            return new BytesWritable(new byte[BLOCK]);
        }

        @Override
        public long getPos() {
            return next;
        }

        @Override
        public float getProgress() {
            return end == start ? 1 : Math.max(0, Math.min(1, (float) (next - start) / (end - start)));
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}
