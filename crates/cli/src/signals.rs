//! What signals do to a server.
//!
//! | signal | |
//! |---|---|
//! | SIGTERM, SIGINT | stop: statements that run may finish; a second one does not wait for them; a third ends the process |
//! | SIGQUIT | stop without waiting for statements |
//! | SIGHUP | read users and certificates again |
//! | SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGXFSZ | a line in the log; without a handler they would end the process |
//!
//! SIGPIPE is ignored by Rust's runtime: a write to a peer that has gone fails.

use rowferry_server::Stopper;
use signal_hook::consts::{
    SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXFSZ,
};
use signal_hook::iterator::{Handle, Signals};

use crate::{Failure, service};

/// What SIGHUP does.
pub type Reload = Box<dyn Fn() -> Result<(), Failure> + Send>;

/// Signals that wait to be obeyed.
pub struct Watched(Signals);

/// From now on no signal of the table has its default effect.
pub fn watch() -> Result<Watched, Failure> {
    let all = [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGXFSZ];
    Signals::new(all).map(Watched).map_err(cannot_watch)
}

impl Watched {
    /// Obeys what has come and what will come, on a thread of its own, until the handle is closed.
    pub fn obey(self, stopper: Stopper, reload: Reload) -> Result<Handle, Failure> {
        let mut signals = self.0;
        let handle = signals.handle();
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                let mut asked = 0;
                for signal in signals.forever() {
                    match signal {
                        SIGHUP => {
                            service::reloading();
                            if let Err(failure) = reload() {
                                tracing::error!(error = failure.message, "SIGHUP: everything stays as it is");
                            }
                            service::ready();
                        }
                        SIGTERM | SIGINT | SIGQUIT => {
                            asked += 1;
                            service::stopping();
                            match (asked, signal) {
                                (1, SIGTERM | SIGINT) => stopper.stop(),
                                (1 | 2, _) => stopper.stop_now(),
                                _ => drop(signal_hook::low_level::emulate_default_handler(signal)),
                            }
                        }
                        _ => tracing::warn!(signal = signal_hook::low_level::signal_name(signal), "ignored"),
                    }
                }
            })
            .map_err(cannot_watch)?;
        Ok(handle)
    }
}

fn cannot_watch(error: std::io::Error) -> Failure {
    Failure::new(format!("cannot watch for signals: {error}"))
}
