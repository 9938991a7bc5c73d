//! The commands of a connection, which are the same whatever moves its bytes.

/// The methods of a wire that Python calls: its own, and the commands. A command is begun by `run(slf, start)`, which
/// answers its outcome, or a future of it; `session(py, read)` looks at the core, `displaced(py)` at the login.
///
/// PyO3 takes all methods of a class in one block: so a wire's own stand within the call. `Client`, `CursorOptions` and
/// `QueryResult` are the wire's imports.
macro_rules! with_commands {
    ($wire:ident: $($own:tt)*) => {
        #[pymethods]
        impl $wire {
            $($own)*

            /// Runs a statement, in a transaction when `begin` is true.
            #[allow(clippy::too_many_arguments)] // Keywords of Python.
            #[pyo3(signature = (
                sql, args=None, begin=false, *, scroll=false, hold=false, name=None, files=None, query=false
            ))]
            fn execute(
                slf: &Bound<'_, Self>,
                sql: &Bound<'_, PyAny>,
                args: Option<&Bound<'_, PyAny>>,
                begin: bool,
                scroll: bool,
                hold: bool,
                name: Option<&str>,
                files: Option<Py<PyAny>>,
                query: bool,
            ) -> PyResult<Py<PyAny>> {
                let cursor = CursorOptions { name: name.map(|name| name.as_bytes().into()), scroll, hold };
                Self::run(slf, |py, driver, client| driver.execute(py, client, sql, args, begin, query, cursor, files))
            }

            /// Runs a statement for each row of values, in a transaction when `begin` is true. With `go_on`, so many rows
            /// may fail.
            #[pyo3(signature = (sql, rows, begin=false, *, go_on=None, files=None))]
            fn execute_many(
                slf: &Bound<'_, Self>,
                sql: &Bound<'_, PyAny>,
                rows: &Bound<'_, PyAny>,
                begin: bool,
                go_on: Option<usize>,
                files: Option<Py<PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.execute_many(py, client, sql, rows, begin, go_on, files))
            }

            /// The next rows of a cursor.
            #[pyo3(signature = (result, files=None))]
            fn fetch(slf: &Bound<'_, Self>, result: &QueryResult, files: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.fetch(py, client, result, files))
            }

            /// Up to `count` rows of a scroll cursor, from this number (from 1) on; None is the last row.
            #[pyo3(signature = (result, row, count=1))]
            fn scroll(
                slf: &Bound<'_, Self>,
                result: &QueryResult,
                row: Option<i32>,
                count: u16,
            ) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.scroll(py, client, result, row, count))
            }

            /// The database and the handle of a routine.
            fn find_routine(slf: &Bound<'_, Self>, signature: &str) -> PyResult<Py<PyAny>> {
                let signature = signature.as_bytes();
                Self::run(slf, |py, driver, client| driver.command(py, client, |client| client.find_routine(signature)))
            }

            /// Calls a routine by its handle; what it returns, as a list.
            #[pyo3(signature = (signature, database, handle, args, begin=false))]
            fn call_routine(
                slf: &Bound<'_, Self>,
                signature: &str,
                database: &str,
                handle: i32,
                args: &Bound<'_, PyAny>,
                begin: bool,
            ) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.call_routine(py, client, signature, database, handle, args, begin))
            }

            /// Up to `size` bytes of an open smart large object, at its position or from this offset on.
            #[pyo3(signature = (lofd, size, offset=None))]
            fn lo_read(slf: &Bound<'_, Self>, lofd: i16, size: usize, offset: Option<i64>) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.command(py, client, |client| client.lo_read(lofd, size, offset)))
            }

            /// Writes to an open smart large object, at its position. The count is how many bytes were taken.
            fn lo_write(slf: &Bound<'_, Self>, lofd: i16, data: &[u8]) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.command(py, client, |client| client.lo_write(lofd, data)))
            }

            /// The next rows of a cursor, for `RowsToArrow` alone.
            fn fetch_raw(slf: &Bound<'_, Self>, result: &QueryResult) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.fetch_raw(py, client, result))
            }

            /// Nobody will fetch from this cursor any more. Harmless at any time; it is closed with the next operation.
            fn discard(&self, result: &QueryResult) {
                self.discarded.add(result);
            }

            /// Begins a transaction.
            fn begin(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.command(py, client, Client::begin))
            }

            /// Commits.
            fn commit(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.command(py, client, Client::commit))
            }

            /// Rolls back.
            fn rollback(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.command(py, client, Client::rollback))
            }

            /// Sets a savepoint.
            fn set_savepoint(slf: &Bound<'_, Self>, name: &str) -> PyResult<Py<PyAny>> {
                let name = name.as_bytes();
                Self::run(slf, |py, driver, client| driver.command(py, client, |client| client.set_savepoint(name)))
            }

            /// Rolls back to a savepoint.
            fn rollback_to_savepoint(slf: &Bound<'_, Self>, name: &str) -> PyResult<Py<PyAny>> {
                let name = name.as_bytes();
                Self::run(slf, |py, driver, client| driver.command(py, client, |client| client.rollback_to_savepoint(name)))
            }

            /// Releases a savepoint.
            fn release_savepoint(slf: &Bound<'_, Self>, name: &str) -> PyResult<Py<PyAny>> {
                let name = name.as_bytes();
                Self::run(slf, |py, driver, client| driver.command(py, client, |client| client.release_savepoint(name)))
            }

            /// Asks whether the server is there.
            fn ping(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.command(py, client, Client::ping))
            }

            /// The login has failed by which a server was sent more than one that is not known takes: another may have its
            /// place.
            #[getter]
            fn is_displaced(&self, py: Python<'_>) -> PyResult<bool> {
                self.displaced(py)
            }

            /// True while a transaction is under way that this client began.
            #[getter]
            fn in_transaction(&self, py: Python<'_>) -> PyResult<bool> {
                self.session(py, |client| client.session().in_transaction)
            }

            /// True when the database has transactions.
            #[getter]
            fn is_logged(&self, py: Python<'_>) -> PyResult<bool> {
                self.session(py, |client| client.session().logged)
            }

            /// True when the database is in ANSI mode.
            #[getter]
            fn is_ansi(&self, py: Python<'_>) -> PyResult<bool> {
                self.session(py, |client| client.session().is_ansi())
            }

            /// The server's version with its product name, as the login has it. Not the release.
            #[getter]
            fn server_version(&self, py: Python<'_>) -> PyResult<String> {
                self.session(py, |client| String::from_utf8_lossy(&client.session().server_version).into_owned())
            }

            /// What the server can do, as a mask.
            #[getter]
            fn server_capabilities(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
                self.session(py, |client| client.session().server_capabilities.as_bytes().to_vec())
            }

            /// What both sides can do, as a mask.
            #[getter]
            fn capabilities(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
                self.session(py, |client| client.session().capabilities.as_bytes().to_vec())
            }
        }
    };
}

pub(super) use with_commands;
