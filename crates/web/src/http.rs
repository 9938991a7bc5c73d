//! As much of HTTP/1.1 as one page needs: a request of bounded size within bounded time, and its answer; then the connection is
//! over.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// How long a request may take to come, its TLS handshake included, and its answer to be taken.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest head of a request, and the longest body, in bytes.
const LONGEST_HEAD: usize = 16 * 1024;
const LONGEST_BODY: usize = 1024 * 1024;

/// A connection of a browser's.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    pub(crate) fn new(socket: TcpStream, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        socket.set_nonblocking(false)?;
        socket.set_write_timeout(Some(PATIENCE))?;
        let Some(config) = tls else { return Ok(Self::Plain(socket)) };
        let session = ServerConnection::new(config).map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(StreamOwned::new(session, socket))))
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => &stream.sock,
        }
    }

    fn read_until(&mut self, into: &mut [u8], until: Instant) -> io::Result<usize> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.socket().set_read_timeout(Some(left))?;
        match self {
            Self::Plain(socket) => socket.read(into),
            Self::Tls(stream) => stream.read(into),
        }
    }

    /// Writes an answer and ends the connection.
    pub(crate) fn answer(mut self, answer: &Answer, with_body: bool) -> io::Result<()> {
        let mut out = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
            answer.status,
            reason(answer.status),
            answer.form,
            answer.body.len()
        );
        for (name, value) in HEADERS.iter().copied().chain(answer.headers.iter().map(|(name, value)| (*name, &**value)))
        {
            out.push_str(&format!("{name}: {value}\r\n"));
        }
        out.push_str("\r\n");
        let mut out = out.into_bytes();
        if with_body {
            out.extend_from_slice(&answer.body);
        }
        match &mut self {
            Self::Plain(socket) => socket.write_all(&out)?,
            Self::Tls(stream) => {
                stream.write_all(&out)?;
                stream.conn.send_close_notify();
                stream.flush()?;
            }
        }
        self.socket().shutdown(Shutdown::Write)
    }
}

/// What every answer has: nothing of others is loaded, nobody frames the page, nothing is guessed.
const HEADERS: [(&str, &str); 6] = [
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; \
         base-uri 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
];

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    }
}

/// An answer to be written.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) form: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(status: u16, value: &serde_json::Value) -> Self {
        let headers = vec![("Cache-Control", "no-store".into())];
        Self { status, form: "application/json", headers, body: value.to_string().into_bytes() }
    }

    /// What was wrong, in words.
    pub(crate) fn refusal(status: u16, message: &str) -> Self {
        Self::json(status, &serde_json::json!({ "error": { "message": message } }))
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// A request, as far as it matters here.
#[derive(Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without what stands behind `?`.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// A header's value; `None` for one that is there twice, since nobody knows which one counts.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    /// A cookie's value.
    pub(crate) fn cookie(&self, name: &str) -> Option<&str> {
        let cookies = self.header("cookie")?;
        cookies
            .split(';')
            .filter_map(|cookie| cookie.trim().split_once('='))
            .find(|(known, _)| *known == name)
            .map(|of| of.1)
    }
}

/// Reads one request; the status to answer with where it is none that can be read. `None` for one that does not come.
pub(crate) fn read(stream: &mut Stream) -> io::Result<Option<Result<Request, u16>>> {
    let until = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut part = [0; 8 * 1024];
    let (mut request, mut length) = loop {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(&bytes) {
            Ok(httparse::Status::Complete(head)) => {
                let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
                let path = parsed.path.unwrap_or_default();
                let request = Request {
                    method: parsed.method.unwrap_or_default().to_owned(),
                    path: path.split('?').next().unwrap_or_default().to_owned(),
                    headers: parsed.headers.iter().map(|header| (header.name.to_owned(), text(header.value))).collect(),
                    body: bytes.split_off(head),
                };
                let has =
                    |name: &str| request.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name)).count();
                // Where a body ends must not be open to doubt.
                if has("transfer-encoding") > 0 || has("content-length") > 1 || has("host") != 1 {
                    return Ok(Some(Err(400)));
                }
                let length = match request.header("content-length").map(str::parse::<usize>) {
                    None => 0,
                    Some(Ok(length)) if length <= LONGEST_BODY => length,
                    Some(Ok(_)) => return Ok(Some(Err(413))),
                    Some(Err(_)) => return Ok(Some(Err(400))),
                };
                break (request, length);
            }
            Ok(httparse::Status::Partial) if bytes.len() < LONGEST_HEAD => {}
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => return Ok(Some(Err(431))),
            Err(_) => return Ok(Some(Err(400))),
        }
        match stream.read_until(&mut part, until)? {
            0 => return Ok(None),
            count => bytes.extend_from_slice(&part[..count]),
        }
    };
    while request.body.len() < length {
        match stream.read_until(&mut part, until)? {
            0 => return Ok(None),
            count => request.body.extend_from_slice(&part[..count]),
        }
    }
    length = length.min(request.body.len());
    request.body.truncate(length);
    Ok(Some(Ok(request)))
}
