import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.lib.NullOutputFormat;

import boxscore.ByteBlocks;

/** Splits of random files, cut anywhere, have the lines that begin in them, and a packed file is one. */
public class SplitsOfLines {
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        Random random = new Random(7);
        int splits = 0;
        for (int round = 0; round < 60; round++) {
            byte[] bytes = text(random);
            Path file = folder.resolve("lines");
            Files.write(file, bytes);
            for (int wanted : new int[] {1, 2, 3, 7, 40}) {
                splits += check(file, bytes, wanted);
            }
            Path packed = folder.resolve("packed.gz");
            Files.write(packed, bytes);
            if (bytes.length > 0 && check(packed, bytes, 7) != 1) {
                throw new AssertionError("a packed file is split");
            }
        }
        System.out.println(splits + " splits");
    }

    /** Lines of up to some lengths, one of them beyond two blocks; some end at the end of the file, some before. */
    private static byte[] text(Random random) {
        byte[] bytes = new byte[random.nextInt(4) == 0 ? random.nextInt(9) : random.nextInt(2_000_000)];
        Arrays.fill(bytes, (byte) 'x');
        int longest = new int[] {1, 3, 300, 70_000, 700_000}[random.nextInt(5)];
        for (int at = random.nextInt(longest); at < bytes.length; at += 1 + random.nextInt(longest)) {
            bytes[at] = '\n';
        }
        return bytes;
    }

    private static int check(Path file, byte[] bytes, int wanted) throws Exception {
        JobConf job = new JobConf();
        job.set("boxscore.whole", ".gz,.zst");
        job.setInputFormat(ByteBlocks.class);
        job.setOutputFormat(NullOutputFormat.class);
        // Splits of one byte are allowed.
        job.setLong("mapreduce.input.fileinputformat.split.minsize", 1);
        FileInputFormat.setInputPaths(job, new org.apache.hadoop.fs.Path(file.toUri()));
        InputSplit[] splits = job.getInputFormat().getSplits(job, wanted);
        for (InputSplit split : splits) {
            FileSplit part = (FileSplit) split;
            long start = part.getStart();
            long end = start + part.getLength();
            int from = file.toString().endsWith(".gz") ? 0 : begin(bytes, start);
            int to = file.toString().endsWith(".gz") ? bytes.length : begin(bytes, end);
            byte[] want = Arrays.copyOfRange(bytes, from, Math.max(from, to));
            byte[] have = read(job, split, from);
            if (!Arrays.equals(want, have)) {
                throw new AssertionError(bytes.length + " bytes, split " + start + " to " + end + ": " + have.length
                        + " bytes, not " + want.length);
            }
        }
        return splits.length;
    }

    /** Where the first line begins that begins here or later. */
    private static int begin(byte[] bytes, long at) {
        int place = (int) at;
        while (place > 0 && place < bytes.length && bytes[place - 1] != '\n') {
            place++;
        }
        return place;
    }

    private static byte[] read(JobConf job, InputSplit split, int from) throws Exception {
        RecordReader<LongWritable, BytesWritable> reader =
                ((ByteBlocks) job.getInputFormat()).getRecordReader(split, job, Reporter.NULL);
        LongWritable key = reader.createKey();
        BytesWritable value = reader.createValue();
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (reader.next(key, value)) {
            if (key.get() != from + all.size()) {
                throw new AssertionError("a block at " + key.get() + ", not at " + (from + all.size()));
            }
            all.write(value.getBytes(), 0, value.getLength());
        }
        if (reader.next(key, value)) {
            throw new AssertionError("a block behind the last");
        }
        reader.close();
        return all.toByteArray();
    }
}
