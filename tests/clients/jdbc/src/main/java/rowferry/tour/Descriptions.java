package rowferry.tour;

import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSetMetaData;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;

/** ResultSetMetaData and ParameterMetaData. */
final class Descriptions extends Theme {
    @Override
    void run() throws Exception {
        execute("CREATE TABLE t_described (id SERIAL, small SMALLINT, big BIGINT, price DECIMAL(10,3), name VARCHAR(30) NOT NULL, note LVARCHAR(500), "
                + "fixed CHAR(7), flag BOOLEAN, day DATE, moment DATETIME YEAR TO FRACTION(3), span INTERVAL DAY TO SECOND, real FLOAT, b BLOB, t TEXT)");
        try (PreparedStatement select = connection().prepareStatement("SELECT * FROM t_described WHERE id = ? AND name = ? AND price > ?")) {
            ResultSetMetaData columns = select.getMetaData();
            check("labels", "id|small|big|price|name|note|fixed|flag|day|moment|span|real|b|t", labels(columns));
            List<Integer> types = new ArrayList<>();
            List<String> names = new ArrayList<>();
            for (int column = 1; column <= columns.getColumnCount(); column++) {
                types.add(columns.getColumnType(column));
                names.add(columns.getColumnTypeName(column));
            }
            check("types", List.of(Types.INTEGER, Types.SMALLINT, Types.BIGINT, Types.DECIMAL, Types.VARCHAR, Types.LONGVARCHAR, Types.CHAR, Types.BOOLEAN, Types.DATE,
                    Types.TIMESTAMP, Types.CHAR, Types.DOUBLE, Types.BLOB, Types.LONGVARCHAR), types);
            check("type names", List.of("serial", "smallint", "bigint", "decimal", "varchar", "lvarchar", "char", "boolean", "date",
                    "datetime year to fraction(3)", "interval day(2) to second", "float", "blob", "text"), names);
            check("precision and scale", "10|3", columns.getPrecision(4) + "|" + columns.getScale(4));
            check("width of a VARCHAR", 30, columns.getPrecision(5));
            check("NOT NULL", ResultSetMetaData.columnNoNulls, columns.isNullable(5));
            check("nullable", ResultSetMetaData.columnNullable, columns.isNullable(6));
            check("numbers itself", columns.isAutoIncrement(1));
            check("class", "java.math.BigDecimal", columns.getColumnClassName(4));
            ParameterMetaData params = select.getParameterMetaData();
            check("parameters", 3, params.getParameterCount());
            check("types of parameters", List.of(Types.INTEGER, Types.LONGVARCHAR, Types.DECIMAL),
                    List.of(params.getParameterType(1), params.getParameterType(2), params.getParameterType(3)));
        }
        try (PreparedStatement insert = connection().prepareStatement("INSERT INTO t_described (small, big, name) VALUES (?, ?, ?)")) {
            ParameterMetaData params = insert.getParameterMetaData();
            check("types of an INSERT's parameters", List.of(Types.SMALLINT, Types.BIGINT, Types.VARCHAR),
                    List.of(params.getParameterType(1), params.getParameterType(2), params.getParameterType(3)));
        }
        try (PreparedStatement select = connection().prepareStatement("SELECT COUNT(*), SUM(price), MAX(name), 1, 'x', id + 1, price * 2 AS twice FROM t_described GROUP BY 6, 7")) {
            check("names of expressions", "(count(*))|(sum)|(max)|(constant)|(constant)|(expression)|twice", labels(select.getMetaData()));
        }
        execute("DROP TABLE t_described");
    }
}
