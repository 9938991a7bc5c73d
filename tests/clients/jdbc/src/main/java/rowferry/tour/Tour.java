package rowferry.tour;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Walks through all that programs do with IBM's JDBC driver, and says what it found, a line of JSON per check.
 *
 * <p>Arguments: host, port, database, user, password, and the themes to run (all of them when none is named). Each theme
 * opens its own connections and leaves nothing behind that another would stumble over. What a theme does not survive is
 * reported as its failure; the others go on.
 */
public final class Tour {
    private static final Map<String, Supplier<Theme>> THEMES = new LinkedHashMap<>();

    static {
        THEMES.put("connecting", Connecting::new);
        THEMES.put("types", Types::new);
        THEMES.put("batches", Batches::new);
        THEMES.put("cursors", Cursors::new);
        THEMES.put("changing", Changing::new);
        THEMES.put("keys", Keys::new);
        THEMES.put("transactions", Transactions::new);
        THEMES.put("objects", LargeObjects::new);
        THEMES.put("routines", Routines::new);
        THEMES.put("stopping", Stopping::new);
        THEMES.put("failures", Failures::new);
        THEMES.put("catalog", Catalog::new);
        THEMES.put("descriptions", Descriptions::new);
        THEMES.put("distributed", Distributed::new);
        THEMES.put("pools", Pools::new);
        THEMES.put("databases", Databases::new);
        THEMES.put("text", Texts::new);
        THEMES.put("composites", Composites::new);
    }

    private Tour() {}

    public static void main(String[] args) {
        Target target = new Target(args[0], Integer.parseInt(args[1]), args[2], args[3], args[4]);
        for (Map.Entry<String, Supplier<Theme>> entry : THEMES.entrySet()) {
            if (args.length > 5 && !java.util.Arrays.asList(args).subList(5, args.length).contains(entry.getKey())) {
                continue;
            }
            Theme theme = entry.getValue().get();
            theme.enter(entry.getKey(), target);
            long began = System.nanoTime();
            try {
                theme.run();
            } catch (Throwable failure) {
                StringWriter trace = new StringWriter();
                failure.printStackTrace(new PrintWriter(trace));
                theme.report("survives", "the whole theme", trace.toString(), false);
            } finally {
                theme.leave();
            }
            System.out.println("{\"theme\":" + Theme.quote(entry.getKey()) + ",\"milliseconds\":"
                    + (System.nanoTime() - began) / 1_000_000 + "}");
        }
        // The driver's own threads must not keep the program.
        System.out.flush();
        System.exit(0);
    }
}
