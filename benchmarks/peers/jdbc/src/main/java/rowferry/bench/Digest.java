package rowferry.bench;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Rows by value, in the words of benchmarks/results.py. */
final class Digest {
    private Digest() {}

    static Map<String, Object> of(List<List<Object[]>> runs) throws NoSuchAlgorithmException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        int count = 0;
        List<String> first = null;
        for (List<Object[]> rows : runs) {
            for (Object[] row : rows) {
                List<String> cells = new ArrayList<>(row.length);
                for (Object cell : row) {
                    cells.add(canonical(cell));
                }
                if (first == null) {
                    first = cells;
                }
                digest.update(String.join("\u001f", cells).getBytes(StandardCharsets.UTF_8));
                digest.update((byte) 0x1e);
                count++;
            }
            digest.update((byte) 0x1d);
        }
        Map<String, Object> answer = new HashMap<>();
        answer.put("rows", count);
        answer.put("digest", HexFormat.of().formatHex(digest.digest()));
        answer.put("first", first == null ? List.of() : first);
        return answer;
    }

    private static String canonical(Object cell) {
        if (cell == null) {
            return "null";
        }
        if (cell instanceof Boolean flag) {
            return flag ? "n:1" : "n:0";
        }
        if (cell instanceof Number number) {
            // A float as Python makes one of it: by its double.
            BigDecimal exact = new BigDecimal(
                    number instanceof Float single ? Double.toString(single.doubleValue()) : number.toString());
            return exact.signum() == 0 ? "n:0" : "n:" + exact.stripTrailingZeros().toPlainString();
        }
        if (cell instanceof Timestamp moment) {
            String text = moment.toLocalDateTime().toLocalDate() + " "
                    + String.format("%tH:%<tM:%<tS", moment);
            return "s:" + text + (moment.getNanos() == 0 ? "" : String.format(".%06d", moment.getNanos() / 1_000));
        }
        if (cell instanceof Date || cell instanceof Time) {
            return "s:" + cell;
        }
        if (cell instanceof byte[] bytes) {
            return "b:" + HexFormat.of().formatHex(bytes);
        }
        if (cell instanceof com.informix.lang.IntervalDF interval) {
            BigDecimal seconds = BigDecimal.valueOf(interval.getSeconds())
                    .add(BigDecimal.valueOf(interval.getNanoSeconds(), 9))
                    .stripTrailingZeros();
            // Python writes a float.
            return "t:" + (seconds.scale() <= 0 ? seconds.toPlainString() + ".0" : seconds.toPlainString());
        }
        return "s:" + cell.toString().stripTrailing();
    }
}
