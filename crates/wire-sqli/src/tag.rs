//! The numbers that begin a message.

rowferry_wire::open_enum! {
    /// What kind of message follows. The same number may mean different bodies in the two directions.
    pub struct Tag(u16) {
        /// One-shot statement.
        COMMAND = 1,
        /// Prepare a statement.
        PREPARE = 2,
        /// Name the cursor of the current statement.
        CURNAME = 3,
        /// Choose the current statement.
        ID = 4,
        /// Parameter values.
        BIND = 5,
        /// Open the cursor.
        OPEN = 6,
        /// Run a statement that is not a query.
        EXECUTE = 7,
        /// Columns of a prepared statement.
        DESCRIBE = 8,
        /// Fetch a batch of rows.
        NFETCH = 9,
        /// Close the cursor.
        CLOSE = 10,
        /// Free the statement.
        RELEASE = 11,
        /// End of a group.
        EOT = 12,
        /// Something failed.
        ERR = 13,
        /// One row.
        TUPLE = 14,
        /// Counts of a finished statement.
        DONE = 15,
        /// A row for an insert cursor.
        PUTINSERT = 17,
        /// Commit.
        CMMTWORK = 19,
        /// Roll back.
        RBWORK = 20,
        /// Ask for `DESCRIBE`.
        NDESCRIBE = 22,
        /// Fetch one row of a scroll cursor.
        SFETCH = 23,
        /// The cursor to be opened scrolls.
        SCROLL = 24,
        /// Absolute number of the row before.
        TUPID = 25,
        /// Names of the databases.
        DBLIST = 26,
        /// Begin a transaction.
        BEGIN = 35,
        /// Open a database.
        DBOPEN = 36,
        /// Close the database.
        DBCLOSE = 37,
        /// Ask for a `BYTE` or `TEXT` value.
        FETCHBLOB = 38,
        /// A chunk of a `BYTE` or `TEXT` value.
        BLOB = 39,
        /// `BYTE` and `TEXT` parameter values follow.
        BBIND = 41,
        /// The cursor to be opened survives the transaction.
        HOLD = 43,
        /// Ask for `DONE`.
        WANTDONE = 49,
        /// Version of the server.
        VERSION = 53,
        /// Estimates of a statement.
        COST = 55,
        /// End of the session.
        EXIT = 56,
        /// Environment of the session.
        INFO = 81,
        /// A resource manager of distributed transactions is opened.
        XOPEN = 82,
        /// Generated serial values.
        INSERTDONE = 94,
        /// Reads and writes of smart large objects.
        LODATA = 97,
        /// The server uses the client's files.
        FILE = 98,
        /// The state of the transaction changed.
        XACTSTAT = 99,
        /// The row format that the client wants.
        RET_TYPE = 100,
        /// Look up a routine.
        GETROUTINE = 101,
        /// Call a routine.
        EXFPROUTINE = 102,
        /// Results of a routine.
        FPROUTINE = 103,
        /// File contents that the server asked for.
        FILE_READ = 106,
        /// File contents that the server writes, and their acknowledgement.
        FILE_WRITE = 107,
        /// Free the statement when its cursor closes.
        AUTOFREE = 108,
        /// Ask for descriptions of the parameters.
        CIDESCRIBE = 124,
        /// Descriptions of the parameters.
        IDESCRIBE = 125,
        /// Capability masks.
        PROTOCOLS = 126,
        /// PAM: accepted.
        ACCEPT = 127,
        /// PAM: the client is ready.
        ACK = 128,
        /// PAM: the server asks.
        CHALLENGE = 129,
        /// PAM: the client answers.
        RESPONSE = 130,
        /// Which generated keys are wanted. The official name is not known.
        AUTOGENKEYS = 134,
        /// Description of the generated keys. The official name is not known.
        KEYDESCRIBE = 135,
        /// The keys of a row that was inserted. The official name is not known.
        KEYTUPLE = 136,
        /// Set a savepoint.
        SETSVPT = 137,
        /// Release a savepoint.
        RELSVPT = 138,
        /// Roll back to a savepoint.
        RBACKSVPT = 139,
    }
}
