//! What a client asks for once it is in.

use rowferry_wire::open_enum;

open_enum! {
    /// The first byte of a request.
    pub struct Command(u8) {
        /// Good bye; nothing is answered.
        QUIT = 0x01,
        /// Change the default database.
        INIT_DB = 0x02,
        /// Run the text that follows.
        QUERY = 0x03,
        /// The columns of a table.
        FIELD_LIST = 0x04,
        /// Make a database; refused since MySQL 5.0.
        CREATE_DB = 0x05,
        /// Drop a database; refused since MySQL 5.0.
        DROP_DB = 0x06,
        /// Flush caches.
        REFRESH = 0x07,
        /// Stop the server.
        SHUTDOWN = 0x08,
        /// A line of text about the server.
        STATISTICS = 0x09,
        /// The list of sessions.
        PROCESS_INFO = 0x0a,
        /// End another session.
        PROCESS_KILL = 0x0c,
        /// Have the server write to its log.
        DEBUG = 0x0d,
        /// Are you there?
        PING = 0x0e,
        /// Log in again, as somebody else.
        CHANGE_USER = 0x11,
        /// Prepare the text that follows.
        STMT_PREPARE = 0x16,
        /// Run a prepared statement.
        STMT_EXECUTE = 0x17,
        /// A piece of a prepared statement's value, before its execution; nothing is answered.
        STMT_SEND_LONG_DATA = 0x18,
        /// Forget a prepared statement; nothing is answered.
        STMT_CLOSE = 0x19,
        /// Give up a statement's open cursor and long data.
        STMT_RESET = 0x1a,
        /// Turn several statements in one query on or off.
        SET_OPTION = 0x1b,
        /// The next rows of a statement's open cursor.
        STMT_FETCH = 0x1c,
        /// Forget all session state but the login.
        RESET_CONNECTION = 0x1f,
        /// MariaDB: run a prepared statement for many rows.
        STMT_BULK_EXECUTE = 0xfa,
    }
}
