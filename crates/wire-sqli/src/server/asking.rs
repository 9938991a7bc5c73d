//! Questions behind the login packet, as servers with PAM ask them.

use super::{Doing, Request, Server, State, Violation};
use crate::Capability;
use crate::messages::{Challenge, ChallengeStyle, ClientMessage, ServerMessage};

/// What a client that is asked who it is is to send next.
#[derive(Debug)]
pub(super) enum Asking {
    /// What it can do.
    Protocols,
    /// The end of that turn.
    Greeted,
    /// That it is ready for questions.
    Ready,
    /// The end of that turn.
    Acknowledged,
    /// Its answer to a question.
    Answer,
    /// The end of that turn.
    Answered(Vec<u8>),
    /// Nothing: the caller has the next word.
    Judging,
}

impl Server {
    pub(super) fn handle_asking<'a>(&mut self, message: ClientMessage<'a>) -> Result<Option<Request<'a>>, Violation> {
        let State::Asking(asking) = std::mem::replace(&mut self.state, State::Closed) else { return Ok(None) };
        let (next, request) = match (asking, message) {
            (Asking::Protocols, ClientMessage::Protocols(offer)) => {
                let ours = self.capabilities.clone().with(Capability::PAM, true);
                (Asking::Greeted, Some(self.agree(&offer, ours)))
            }
            (Asking::Greeted, ClientMessage::Eot) => {
                self.put_eot();
                (Asking::Ready, None)
            }
            (Asking::Ready, ClientMessage::PamAck) => (Asking::Acknowledged, None),
            (Asking::Acknowledged, ClientMessage::Eot) => (Asking::Judging, Some(Request::Question)),
            (Asking::Answer, ClientMessage::PamResponse(answer)) => (Asking::Answered(answer.to_vec()), None),
            (Asking::Answered(answer), ClientMessage::Eot) => (Asking::Judging, Some(Request::Answer(answer))),
            (_, ClientMessage::Exit) => return Ok(Some(self.leave())),
            (_, ClientMessage::Eot) => return Err(Violation::EmptyTurn),
            _ => return Err(Violation::Unproved),
        };
        self.state = State::Asking(next);
        Ok(request)
    }

    /// Asks a question, whose answer the client does not show on its screen.
    pub fn ask(&mut self, text: &[u8]) {
        if let State::Asking(_) = self.state {
            // A question of ours fits.
            let _ = self.put(&ServerMessage::Challenge(Challenge { style: ChallengeStyle::PROMPT_ECHO_OFF, text }));
            self.put_eot();
            self.state = State::Asking(Asking::Answer);
        }
    }

    /// The client has answered well, and is in.
    pub fn accept_answer(&mut self) {
        if let State::Asking(_) = self.state {
            let _ = self.put(&ServerMessage::PamAccept);
            self.put_eot();
            self.state = State::Group(Doing::Statements);
        }
    }

    /// The client is not let in.
    pub fn refuse(&mut self) {
        let _ = self.put(&ServerMessage::Exit);
        self.state = State::Closed;
    }
}
