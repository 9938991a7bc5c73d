package rowferry.bench;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * A worker process of the benchmarks around IBM's JDBC driver: obeys JSON lines on standard input, answers on standard
 * output, as benchmarks/worker.py does. The harness reads this process's CPU time from outside, so that the compiler's
 * and the collector's threads count as well.
 *
 * <p>Before the first round of a scenario the work is done again and again for {@link #WARM_UP_NANOS}, so that what is
 * measured is compiled code; Python's drivers get one run to warm up.
 */
public final class Worker {
    private static final long WARM_UP_NANOS = 1_500_000_000L;
    private static final int WARM_UP_RUNS = 200;

    private final Gson gson = new Gson();
    private Peer peer;
    private Task task;

    public static void main(String[] args) throws Exception {
        // Whatever a driver prints must not end up between the answers.
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Worker worker = new Worker();
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            JsonObject order = JsonParser.parseString(line).getAsJsonObject();
            Map<String, Object> answer;
            try {
                answer = worker.obey(order);
            } catch (Peer.Unsupported missing) {
                answer = Map.of("missing", missing.getMessage());
            } catch (Exception | LinkageError error) {
                answer = Map.of("error", error.toString());
            }
            answers.println(worker.gson.toJson(answer));
            if (order.get("do").getAsString().equals("stop")) {
                return;
            }
        }
    }

    private Map<String, Object> obey(JsonObject order) throws Exception {
        switch (order.get("do").getAsString()) {
            case "start":
                return start(order);
            case "check":
                return check();
            case "reset":
                return reset();
            case "round":
                return round();
            case "stop":
                stop();
                return Map.of();
            default:
                throw new IllegalArgumentException(order.toString());
        }
    }

    private Map<String, Object> start(JsonObject order) throws Exception {
        stop();
        task = new Task(order);
        peer = new Peer(order.getAsJsonObject("address"));
        return Map.of("version", peer.version(), "pid", ProcessHandle.current().pid());
    }

    private Map<String, Object> check() throws Exception {
        warmUp();
        reset();
        List<List<Object[]>> found = peer.work(task);
        if (task.readBack != null) {
            found = peer.select(task.readBack, List.<Object[]>of(new Object[] {}));
        } else if (found == null) {
            found = peer.select(task.sql, task.parameters.subList(0, 1));
        }
        return Digest.of(found);
    }

    private void warmUp() throws Exception {
        long begin = System.nanoTime();
        for (int run = 0; run < WARM_UP_RUNS && System.nanoTime() - begin < WARM_UP_NANOS; run++) {
            reset();
            peer.work(task);
        }
    }

    private Map<String, Object> reset() throws Exception {
        if (task.reset != null) {
            peer.execute(task.reset);
        }
        return Map.of();
    }

    private Map<String, Object> round() throws Exception {
        long wall = System.nanoTime();
        List<List<Object[]>> rows = peer.work(task);
        wall = System.nanoTime() - wall;
        if (rows != null && rows.isEmpty()) {
            throw new IllegalStateException("no rows");
        }
        return Map.of("wall_ns", wall);
    }

    private void stop() throws Exception {
        if (peer != null) {
            peer.close();
            peer = null;
        }
    }

    /** An optional member of an order. */
    static String text(JsonObject order, String name) {
        JsonElement element = order.get(name);
        return element == null || element.isJsonNull() ? null : element.getAsString();
    }
}
