package rowferry.tour;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.util.List;
import javax.sql.ConnectionPoolDataSource;
import javax.sql.DataSource;
import javax.sql.PooledConnection;

/** DataSource and ConnectionPoolDataSource. */
final class Pools extends Theme {
    private Object made(String type) throws Exception {
        Object source = Class.forName("com.informix.jdbcx." + type).getDeclaredConstructor().newInstance();
        set(source, "setIfxIFXHOST", String.class, target.host());
        set(source, "setPortNumber", int.class, target.port());
        set(source, "setServerName", String.class, "informix");
        set(source, "setDatabaseName", String.class, target.database());
        set(source, "setUser", String.class, target.user());
        set(source, "setPassword", String.class, target.password());
        return source;
    }

    private static void set(Object source, String setter, Class<?> type, Object value) throws Exception {
        Method method = source.getClass().getMethod(setter, type);
        method.invoke(source, value);
    }

    @Override
    void run() throws Exception {
        DataSource source = (DataSource) made("IfxDataSource");
        for (int turn = 0; turn < 3; turn++) {
            try (Connection connection = source.getConnection()) {
                check("a DataSource's connection " + turn, List.of("1"), query(connection, "SELECT 1 FROM systables WHERE tabid = 1"));
            }
        }
        ConnectionPoolDataSource pool = (ConnectionPoolDataSource) made("IfxConnectionPoolDataSource");
        PooledConnection pooled = pool.getPooledConnection();
        try (Connection connection = pooled.getConnection()) {
            connection.setAutoCommit(false);
            execute(connection, "CREATE TEMP TABLE t_pooled (id INT)", "INSERT INTO t_pooled VALUES (1)");
            connection.commit();
        }
        try (Connection again = pooled.getConnection()) {
            check("the pooled connection again", List.of("2"), query(again, "SELECT 2 FROM systables WHERE tabid = 1"));
        }
        pooled.close();
        Connection[] many = new Connection[20];
        for (int at = 0; at < many.length; at++) {
            many[at] = connect();
        }
        int answers = 0;
        for (Connection one : many) {
            answers += query(one, "SELECT 1 FROM systables WHERE tabid = 1").size();
        }
        check("twenty connections", 20, answers);
    }
}
