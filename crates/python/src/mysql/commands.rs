//! The commands of a connection, which are the same whatever moves its bytes.

/// The methods of a wire that Python calls: its own, and the commands. A command is begun by `run(slf, start)`, or by
/// `run_patiently` when it may take any time: they answer its outcome, or a future of it. `with(py, work)` lends driver and
/// core between operations, `driven` those that there are, `session(py, read)` shows the core.
///
/// PyO3 takes all methods of a class in one block: so a wire's own stand within the call. The types of the commands are
/// the wire's imports.
macro_rules! with_commands {
    ($wire:ident: $($own:tt)*) => {
        #[pymethods]
        impl $wire {
            $($own)*

            /// Runs SQL, with `args` filled in, and answers its first result.
            #[pyo3(signature = (sql, args=None, as_dict=false))]
            fn query(
                slf: &Bound<'_, Self>,
                sql: &Bound<'_, PyAny>,
                args: Option<&Bound<'_, PyAny>>,
                as_dict: bool,
            ) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.query(py, client, sql, args, as_dict))
            }

            /// Runs SQL and answers the head of its first result; rows are fetched by `fetch`.
            #[pyo3(signature = (sql, args=None, as_dict=false))]
            fn open_stream(
                slf: &Bound<'_, Self>,
                sql: &Bound<'_, PyAny>,
                args: Option<&Bound<'_, PyAny>>,
                as_dict: bool,
            ) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.open_stream(py, client, sql, args, as_dict))
            }

            /// Goes on to the result behind a stream.
            fn next_stream(slf: &Bound<'_, Self>, as_dict: bool) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, _| driver.next_stream(py, as_dict))
            }

            /// Up to `most` rows of the stream; fewer only at its end.
            fn fetch(slf: &Bound<'_, Self>, most: usize) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, _| driver.fetch(py, most))
            }

            /// Up to `most` rows of the stream as a batch of Arrow's; None behind the last.
            fn fetch_arrow(slf: &Bound<'_, Self>, most: usize) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, _| driver.fetch_arrow(py, most))
            }

            /// Prepares a statement with `?` for values.
            fn prepare(slf: &Bound<'_, Self>, sql: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.prepare(py, client, sql))
            }

            /// A statement with `?` for each `%s`, which its first execution prepares; None when it has other
            /// placeholders, or some inside quotes.
            fn statement(&self, py: Python<'_>, sql: &Bound<'_, PyAny>) -> PyResult<Option<Prepared>> {
                self.with(py, |driver, client| driver.statement(client, sql))?
            }

            /// Runs a prepared statement and answers its first result.
            #[pyo3(signature = (prepared, args=None, as_dict=false))]
            fn execute(
                slf: &Bound<'_, Self>,
                prepared: &Bound<'_, Prepared>,
                args: Option<&Bound<'_, PyAny>>,
                as_dict: bool,
            ) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.execute(py, client, prepared, args, as_dict))
            }

            /// Runs a prepared statement for each of `rows` and answers one result for all; up to `window` executions are
            /// on their way at a time.
            #[pyo3(signature = (prepared, rows, window, as_dict=false))]
            fn execute_each(
                slf: &Bound<'_, Self>,
                prepared: &Prepared,
                rows: &Bound<'_, PyAny>,
                window: usize,
                as_dict: bool,
            ) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.execute_each(py, client, prepared, rows, window, as_dict))
            }

            /// Runs SQL for each of `rows` and answers one result for all. Requests are at most `most` bytes long, unless
            /// a single row is longer.
            #[pyo3(signature = (sql, rows, most, as_dict=false))]
            fn execute_many(
                slf: &Bound<'_, Self>,
                sql: &Bound<'_, PyAny>,
                rows: &Bound<'_, PyAny>,
                most: usize,
                as_dict: bool,
            ) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.execute_many(py, client, sql, rows, most, as_dict))
            }

            /// Sends a LOAD DATA LOCAL whose file is pushed; answers the name that the server asks for.
            #[pyo3(signature = (sql, args=None))]
            fn begin_file(
                slf: &Bound<'_, Self>,
                sql: &Bound<'_, PyAny>,
                args: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.begin_file(py, client, sql, args))
            }

            /// Sends a piece of that file; done when the next can be taken.
            fn push_file(slf: &Bound<'_, Self>, piece: &[u8]) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.push_file(py, client, piece))
            }

            /// Ends that file and answers the statement's result.
            fn end_file(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.end_file(py, client))
            }

            /// Forgets a prepared statement. The message travels with the next request.
            fn forget(&self, py: Python<'_>, prepared: &Prepared) -> PyResult<()> {
                let Some(statement) = prepared.statement() else { return Ok(()) };
                self.driven(py, |_, client| {
                    if let Some(client) = client {
                        // A closed connection has forgotten already.
                        let _ = client.close_statement(statement);
                    }
                })
            }

            /// Introduces us as a replica.
            fn register_replica(
                slf: &Bound<'_, Self>,
                server_id: u32,
                host: String,
                port: u16,
            ) -> PyResult<Py<PyAny>> {
                Self::run_patiently(slf, |py, driver, client| {
                    binlog::register(driver, py, client, server_id, host, port)
                })
            }

            /// Asks for the binary log and takes what comes first; `listen_binlog` takes the rest.
            fn dump_binlog(
                slf: &Bound<'_, Self>,
                request: binlog::DumpRequest,
                reader: Py<binlog::BinlogReader>,
            ) -> PyResult<Py<PyAny>> {
                Self::run_patiently(slf, |py, driver, client| {
                    binlog::dump(driver, py, client, &request)?;
                    binlog::listen(driver, py, client, &reader)
                })
            }

            /// Asks whether the server is there.
            fn ping(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.command(py, client, Client::ping))
            }

            /// Forgets all session state but the login.
            fn reset(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.command(py, client, Client::reset))
            }

            /// Sends statements whose rows do not matter, all in one write, before them COM_RESET_CONNECTION if `reset`.
            #[pyo3(signature = (statements, reset=false))]
            fn set_up(slf: &Bound<'_, Self>, statements: &Bound<'_, PyAny>, reset: bool) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| driver.set_up(py, client, statements, reset))
            }

            /// Logs in again on the same connection, as `settings` say.
            fn change_user(slf: &Bound<'_, Self>, settings: Settings) -> PyResult<Py<PyAny>> {
                let options = settings.options(slf.py())?;
                Self::run(slf, |py, driver, client| driver.change_user(py, client, options))
            }

            /// Changes the default database.
            fn select_database(slf: &Bound<'_, Self>, name: &str) -> PyResult<Py<PyAny>> {
                Self::run(slf, |py, driver, client| {
                    driver.command(py, client, |client| client.select_database(name.as_bytes()))
                })
            }

            /// Sends these named values with every later statement.
            fn set_attributes(&self, py: Python<'_>, attributes: &Bound<'_, PyDict>) -> PyResult<()> {
                self.with(py, |driver, client| driver.set_attributes(py, client, attributes))?
            }

            /// SQL with `args` filled in, as it would be sent.
            #[pyo3(signature = (sql, args=None))]
            fn mogrify(
                &self,
                py: Python<'_>,
                sql: &Bound<'_, PyAny>,
                args: Option<&Bound<'_, PyAny>>,
            ) -> PyResult<Py<PyBytes>> {
                self.with(py, |driver, client| {
                    let filled = driver.fill(py, client, sql, args)?;
                    Ok(PyBytes::new(py, filled).unbind())
                })?
            }

            /// SQL with the list of values of an INSERT repeated for each of `rows`; of other statements, that of the last
            /// row.
            fn mogrify_many(
                &self,
                py: Python<'_>,
                sql: &Bound<'_, PyAny>,
                rows: &Bound<'_, PyAny>,
            ) -> PyResult<Py<PyBytes>> {
                self.with(py, |driver, client| {
                    let filled = driver.fill_many(py, client, sql, rows)?;
                    Ok(PyBytes::new(py, &filled).unbind())
                })?
            }

            /// SQL with `?` for each `%s`; None when it has other placeholders, or some inside quotes.
            fn question_marks(&self, py: Python<'_>, sql: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyBytes>>> {
                self.driven(py, |driver, _| driver.encoding.question_marks(sql))?
            }

            /// The SQL literal of a value.
            fn literal(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<Py<PyBytes>> {
                self.driven(py, |driver, client| {
                    if let Some(client) = client {
                        driver.obey(client);
                    }
                    let mut literal = Vec::new();
                    driver.encoding.put_literal(&mut literal, value)?;
                    Ok(PyBytes::new(py, &literal).unbind())
                })?
            }

            /// True while rows of a stream, or results behind it, are still on the wire.
            #[getter]
            fn is_streaming(&self, py: Python<'_>) -> PyResult<bool> {
                self.driven(py, |driver, _| driver.is_streaming())
            }

            /// How many warnings the server counted for the stream that ended last.
            #[getter]
            fn stream_warnings(&self, py: Python<'_>) -> PyResult<u16> {
                self.driven(py, |driver, _| driver.stream_warnings())
            }

            /// The server's version, as it spells it.
            #[getter]
            fn server_version(&self, py: Python<'_>) -> PyResult<String> {
                self.session(py, |client| client.session().server_version.clone())
            }

            /// The server's status flags.
            #[getter]
            fn server_status(&self, py: Python<'_>) -> PyResult<u16> {
                self.session(py, |client| client.session().status)
            }

            /// The default database, as far as the server has told; None when it has not.
            #[getter]
            fn schema(&self, py: Python<'_>) -> PyResult<Option<String>> {
                self.session(py, |client| client.session().state.schema.clone())
            }

            /// What the server has told of changes: database, variables, GTIDs, transaction's state and characteristics.
            #[getter]
            fn session_state(&self, py: Python<'_>) -> PyResult<StateTuple> {
                self.session(py, |client| state_tuple(&client.session().state))
            }

            /// True when the server tells of changes of session state.
            #[getter]
            fn tracks_session(&self, py: Python<'_>) -> PyResult<bool> {
                self.session(py, |client| client.session().has(capability::SESSION_TRACK))
            }

            /// Python's name of the character set that statements are in; None for UTF-8.
            #[getter]
            fn codec(&self, py: Python<'_>) -> PyResult<Option<String>> {
                self.driven(py, |driver, _| driver.encoding.name.clone())
            }

            /// The plugin that let us in.
            #[getter]
            fn auth_plugin(&self, py: Python<'_>) -> PyResult<String> {
                self.session(py, |client| client.session().auth_plugin.clone())
            }
        }
    };
}

pub(super) use with_commands;
