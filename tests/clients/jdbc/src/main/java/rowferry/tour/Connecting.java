package rowferry.tour;

import java.sql.Connection;
import java.sql.DriverManager;
import java.util.List;

/** Ways in: URLs, properties, passwords. */
final class Connecting extends Theme {
    @Override
    void run() throws Exception {
        try (Connection inUrl = DriverManager.getConnection(target.url(target.database(),
                "user=" + target.user(), "password=" + target.password()))) {
            check("user and password in the URL", List.of("1"), query(inUrl, "SELECT 1 FROM systables WHERE tabid = 1"));
            check("catalog", target.database(), inUrl.getCatalog());
            check("isValid", inUrl.isValid(5));
            check("autocommit is on", inUrl.getAutoCommit());
            check("isClosed", !inUrl.isClosed());
        }
        try (Connection many = connect("FET_BUF_SIZE=32767", "OPTOFC=1", "IFX_AUTOFREE=1", "OPTCOMPIND=0", "PDQPRIORITY=1", "DBTEMP=/tmp")) {
            check("properties that the server is told", true, query(many, "SELECT tabname FROM systables").size() > 40);
            check("the connection goes on after AUTOFREE", List.of("2"), query(many, "SELECT 2 FROM systables WHERE tabid = ?", 1));
        }
        fails("a wrong password", -951, () -> target.open(target.url(target.database()), target.user(), "wrong").close());
        fails("an unknown user", -951, () -> target.open(target.url(target.database()), "nobody", target.password()).close());
        fails("an unknown database", -329, () -> target.open(target.url("nosuch"), target.user(), target.password()).close());
        try (Connection none = target.open(target.url(null), target.user(), target.password())) {
            fails("no database", -349, () -> query(none, "SELECT 1 FROM systables"));
            execute(none, "DATABASE " + target.database());
            check("DATABASE", List.of("3"), query(none, "SELECT 3 FROM systables WHERE tabid = 1"));
            execute(none, "CLOSE DATABASE");
            fails("CLOSE DATABASE", -349, () -> query(none, "SELECT 1 FROM systables"));
        }
        try (Connection readOnly = connect()) {
            readOnly.setReadOnly(true);
            check("reading in read-only", true, query(readOnly, "SELECT tabname FROM systables").size() > 40);
        }
        try (Connection info = connect()) {
            info.setClientInfo("ApplicationName", "tour");
            check("the session is known", List.of(target.user()), query(info, "SELECT USER FROM systables WHERE tabid = 1"));
            info.setCatalog(target.database());
            check("setCatalog", List.of("5"), query(info, "SELECT 5 FROM systables WHERE tabid = 1"));
        }
        Connection aborted = connect();
        aborted.close();
        check("closed twice", aborted.isClosed());
        aborted.close();
    }
}
