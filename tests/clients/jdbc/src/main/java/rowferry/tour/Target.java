package rowferry.tour;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

/** Where the server is, and who we are. */
record Target(String host, int port, String database, String user, String password) {
    /** The driver's URL for one of the server's databases, with properties such as {@code "IFX_USEPUT=1"}. */
    String url(String name, String... properties) {
        StringBuilder url = new StringBuilder("jdbc:informix-sqli://" + host + ":" + port);
        if (name != null) {
            url.append('/').append(name);
        }
        url.append(":INFORMIXSERVER=informix");
        for (String property : properties) {
            url.append(';').append(property);
        }
        return url.toString();
    }

    /** A connection to the database, whose text is UTF-8. */
    Connection connect(String... properties) throws SQLException {
        String[] all = new String[properties.length + 2];
        all[0] = "CLIENT_LOCALE=en_US.utf8";
        all[1] = "DB_LOCALE=en_US.utf8";
        System.arraycopy(properties, 0, all, 2, properties.length);
        return open(url(database, all), user, password);
    }

    Connection open(String url, String name, String secret) throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", name);
        properties.setProperty("password", secret);
        return DriverManager.getConnection(url, properties);
    }
}
