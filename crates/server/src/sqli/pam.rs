//! Questions after the login packet, as servers with PAM ask them: the password does not stand in the packet but is the
//! answer to a challenge.

use rowferry_wire_sqli::messages::{Challenge, ChallengeStyle, ClientMessage, ServerMessage};
use rowferry_wire_sqli::server::Decoder;
use rowferry_wire_sqli::{Capabilities, Capability};

use super::login::fill;
use crate::auth::{Gate, Users};
use crate::{Connection, Ending};

/// How often the password is asked for.
const TRIES: u32 = 3;
const QUESTION: &[u8] = b"Password: ";
const AGAIN: &[u8] = b"That was not the password. Password: ";

/// What the client is to send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Awaited {
    /// Its capabilities; the answer says that questions follow.
    Protocols,
    /// That it is ready for questions.
    Ready,
    /// The answer to one.
    Answer,
}

/// Asks for the password of `user` until it is right. An error is the end of the connection; the client has been told.
pub(super) fn authenticate(
    gate: &Gate,
    users: &Users,
    connection: &mut Connection,
    decoder: &mut Decoder,
    user: &str,
) -> Result<(), Ending> {
    let mut awaited = Awaited::Protocols;
    let mut tries = 0;
    // What this turn of the client has led to, to be said when it ends.
    let mut verdict = None;
    loop {
        let message = match decoder.next() {
            Ok(Some(message)) => message,
            Ok(None) => {
                fill(connection, decoder)?;
                continue;
            }
            Err(error) => return Err(Ending::Protocol(error.to_string())),
        };
        match (awaited, message) {
            (Awaited::Protocols, ClientMessage::Protocols(offer)) => {
                let ours = Capabilities::server_15().with(Capability::PAM, true);
                let active = offer.and(&ours);
                say(connection, decoder, &[ServerMessage::Protocols(ours)])?;
                decoder.activate(&active);
                awaited = Awaited::Ready;
                verdict = Some(Ok(Vec::new()));
            }
            (Awaited::Ready, ClientMessage::PamAck) => {
                awaited = Awaited::Answer;
                verdict = Some(Ok(vec![question(QUESTION)]));
            }
            (Awaited::Answer, ClientMessage::PamResponse(answer)) => {
                tries += 1;
                let right = match gate.attempt(connection, user) {
                    Ok(attempt) => {
                        let right = users.accepts(user, &String::from_utf8_lossy(answer));
                        attempt.ended(right);
                        right
                    }
                    Err(error) => {
                        refuse(connection, decoder);
                        return Err(Ending::Refused(format!("{error} (user {user})")));
                    }
                };
                verdict = Some(match right {
                    true => Err(true),
                    false if tries < TRIES => Ok(vec![question(AGAIN)]),
                    false => Err(false),
                });
            }
            (_, ClientMessage::Eot) => match verdict.take() {
                Some(Ok(mut messages)) => {
                    messages.push(ServerMessage::Eot);
                    say(connection, decoder, &messages)?;
                }
                // The last word is the caller's: whether there is room is not known yet.
                Some(Err(true)) => return Ok(()),
                Some(Err(false)) => {
                    refuse(connection, decoder);
                    return Err(Ending::Refused(format!("no right password for user {user} in {tries} answers")));
                }
                None => return Err(Ending::Protocol("a turn without a message while authenticating".into())),
            },
            (_, ClientMessage::Exit) => {
                refuse(connection, decoder);
                return Err(Ending::Brief("left when it was asked for a password"));
            }
            // Not printed: it may be a password in the wrong place.
            _ => return Err(Ending::Protocol("another message while the password was awaited".into())),
        }
    }
}

/// The client is in.
pub(super) fn accept(connection: &mut Connection, decoder: &Decoder) -> Result<(), Ending> {
    say(connection, decoder, &[ServerMessage::PamAccept, ServerMessage::Eot])
}

/// The client is out, whether or not it can still be told.
pub(super) fn refuse(connection: &mut Connection, decoder: &Decoder) {
    let _ = say(connection, decoder, &[ServerMessage::Exit]);
}

fn question(text: &'static [u8]) -> ServerMessage<'static> {
    ServerMessage::Challenge(Challenge { style: ChallengeStyle::PROMPT_ECHO_OFF, text })
}

fn say(connection: &mut Connection, decoder: &Decoder, messages: &[ServerMessage<'_>]) -> Result<(), Ending> {
    let mut bytes = Vec::new();
    for message in messages {
        message.encode(&mut bytes, decoder.widths()).map_err(|error| Ending::Failed(error.to_string()))?;
    }
    connection.write_all(&bytes).map_err(Ending::Broken)
}
