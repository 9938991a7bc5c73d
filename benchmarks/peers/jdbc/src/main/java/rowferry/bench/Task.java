package rowferry.bench;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.sql.Date;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** What a scenario asks for, as benchmarks/spell.py spells it. */
final class Task {
    final String sql;
    final String work;
    final String readBack;
    final String reset;
    final List<Object[]> parameters = new ArrayList<>();

    Task(JsonObject order) {
        sql = order.get("sql").getAsString();
        work = order.get("work").getAsString();
        readBack = Worker.text(order, "read_back");
        reset = Worker.text(order, "reset");
        for (JsonElement row : order.getAsJsonArray("parameters")) {
            JsonArray cells = row.getAsJsonArray();
            Object[] values = new Object[cells.size()];
            for (int at = 0; at < values.length; at++) {
                values[at] = value(cells.get(at));
            }
            parameters.add(values);
        }
    }

    private static Object value(JsonElement cell) {
        if (cell.isJsonNull()) {
            return null;
        }
        if (cell.isJsonPrimitive()) {
            JsonPrimitive primitive = cell.getAsJsonPrimitive();
            if (primitive.isString()) {
                return primitive.getAsString();
            }
            if (primitive.isBoolean()) {
                return primitive.getAsBoolean();
            }
            BigDecimal number = primitive.getAsBigDecimal();
            if (primitive.getAsString().matches(".*[.eE].*")) {
                return number.doubleValue();
            }
            long whole = number.longValueExact();
            // As a programmer would write them: int where an int will do.
            if (whole == (int) whole) {
                return (int) whole;
            }
            return whole;
        }
        JsonObject named = cell.getAsJsonObject();
        String name = named.keySet().iterator().next();
        String text = named.get(name).getAsString();
        return switch (name) {
            case "decimal" -> new BigDecimal(text);
            case "timestamp" -> Timestamp.valueOf(text);
            case "date" -> Date.valueOf(text);
            case "bytes" -> Base64.getDecoder().decode(text);
            default -> throw new IllegalArgumentException(name);
        };
    }
}
