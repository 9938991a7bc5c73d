package rowferry.tour;

import java.sql.SQLException;
import javax.sql.XADataSource;

/** Distributed transactions: refused in words that the program sees. */
final class Distributed extends Theme {
    @Override
    void run() throws Exception {
        // The class has this name in both versions of the driver.
        Object source = Class.forName("com.informix.jdbcx.IfxXADataSource").getDeclaredConstructor().newInstance();
        set(source, "setIfxIFXHOST", target.host());
        set(source, "setServerName", "informix");
        set(source, "setDatabaseName", target.database());
        set(source, "setUser", target.user());
        set(source, "setPassword", target.password());
        source.getClass().getMethod("setPortNumber", int.class).invoke(source, target.port());
        try {
            ((XADataSource) source).getXAConnection();
            check("XADataSource", "refused", "connected");
        } catch (SQLException refusal) {
            check("the refusal speaks of XA", "-746 true", refusal.getErrorCode() + " " + refusal.getMessage().contains("(XA) are not supported"));
        }
        check("the server goes on", java.util.List.of("1"), query("SELECT tabid FROM systables WHERE tabid = 1"));
    }

    private static void set(Object source, String name, String value) throws ReflectiveOperationException {
        source.getClass().getMethod(name, String.class).invoke(source, value);
    }
}
