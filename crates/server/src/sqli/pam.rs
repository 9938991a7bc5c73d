//! Questions after the login packet, as servers with PAM ask them: the password does not stand in the packet but is the
//! answer to a challenge.

use rowferry_wire_sqli::server::Request;

use super::login::Login;
use crate::Ending;
use crate::auth::{Gate, Users};

/// How often the password is asked for.
const TRIES: u32 = 3;
const QUESTION: &[u8] = b"Password: ";
const AGAIN: &[u8] = b"That was not the password. Password: ";

/// Asks for the password of `user` until it is right. An error is the end of the connection; the client has been told.
pub(super) fn authenticate(gate: &Gate, users: &Users, login: &mut Login<'_>, user: &str) -> Result<(), Ending> {
    let mut tries = 0;
    loop {
        match login.request()? {
            Request::Question => login.server.ask(QUESTION),
            Request::Answer(answer) => {
                tries += 1;
                let attempt = gate.attempt(login.connection, user).map_err(|error| {
                    login.refuse();
                    Ending::Refused(format!("{error} (user {user})"))
                })?;
                let right = users.accepts(user, &String::from_utf8_lossy(&answer));
                attempt.ended(right);
                if right {
                    // The last word is the caller's: whether there is room is not known yet.
                    return Ok(());
                }
                if tries == TRIES {
                    login.refuse();
                    return Err(Ending::Refused(format!("no right password for user {user} in {tries} answers")));
                }
                login.server.ask(AGAIN);
            }
            Request::Exit => {
                login.refuse();
                return Err(Ending::Brief("left when it was asked for a password"));
            }
            _ => return Err(Ending::Protocol("a message that nobody asked for".into())),
        }
    }
}
