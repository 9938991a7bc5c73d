//! As much of HTTP/1.1 as figures and a page need: a request of bounded size within bounded time, and its answer; then the
//! connection is over.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What a request may take.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How long it may take to come, its TLS handshake included, and its answer to be taken.
    pub patience: Duration,
    /// The longest head, in bytes.
    pub head: usize,
    /// The longest body, in bytes.
    pub body: usize,
}

/// How long, and for how many bytes, one who was refused may go on sending: what is not read when a connection closes costs him
/// the answer.
const LINGER: Duration = Duration::from_millis(500);
const LINGER_BYTES: usize = 16 * 1024 * 1024;

/// A connection of a browser's.
#[derive(Debug)]
pub struct Stream {
    transport: Transport,
    /// The request was refused before all of it had come.
    unread: bool,
}

#[derive(Debug)]
enum Transport {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    /// A connection that has been accepted; with `tls` its handshake comes with the first bytes that are read.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(socket: TcpStream, tls: Option<Arc<ServerConfig>>, bounds: &Bounds) -> io::Result<Self> {
        socket.set_nonblocking(false)?;
        socket.set_write_timeout(Some(bounds.patience))?;
        let Some(config) = tls else { return Ok(Self { transport: Transport::Plain(socket), unread: false }) };
        let session = ServerConnection::new(config).map_err(io::Error::other)?;
        Ok(Self { transport: Transport::Tls(Box::new(StreamOwned::new(session, socket))), unread: false })
    }

    fn socket(&self) -> &TcpStream {
        match &self.transport {
            Transport::Plain(socket) => socket,
            Transport::Tls(stream) => &stream.sock,
        }
    }

    fn read_until(&mut self, into: &mut [u8], until: Instant) -> io::Result<usize> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.socket().set_read_timeout(Some(left))?;
        match &mut self.transport {
            Transport::Plain(socket) => socket.read(into),
            Transport::Tls(stream) => stream.read(into),
        }
    }

    /// Writes an answer and ends the connection. What asked for the head alone gets it with the body's length.
    ///
    /// # Errors
    /// What broke the connection, or that the answer is not taken in time.
    pub fn answer(mut self, answer: &Answer, with_body: bool) -> io::Result<()> {
        let mut out = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
            answer.status,
            reason(answer.status),
            answer.form,
            answer.body.len()
        );
        for (name, value) in &answer.headers {
            out.push_str(&format!("{name}: {value}\r\n"));
        }
        out.push_str("\r\n");
        let mut out = out.into_bytes();
        if with_body {
            out.extend_from_slice(&answer.body);
        }
        match &mut self.transport {
            Transport::Plain(socket) => socket.write_all(&out)?,
            Transport::Tls(stream) => {
                stream.write_all(&out)?;
                stream.conn.send_close_notify();
                stream.flush()?;
            }
        }
        self.socket().shutdown(Shutdown::Write)?;
        if self.unread { self.linger() } else { Ok(()) }
    }

    /// Takes what is still sent, for a moment.
    fn linger(&mut self) -> io::Result<()> {
        let until = Instant::now() + LINGER;
        let mut part = [0; 16 * 1024];
        let mut left = LINGER_BYTES;
        while left > 0 {
            match self.read_until(&mut part, until)? {
                0 => break,
                count => left = left.saturating_sub(count),
            }
        }
        Ok(())
    }
}

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
#[derive(Debug)]
pub struct Answer {
    /// The status; its words are added.
    pub status: u16,
    /// `Content-Type`.
    pub form: &'static str,
    /// Further headers.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body.
    pub body: Vec<u8>,
}

/// A request, as far as it matters here.
#[derive(Debug)]
pub struct Request {
    /// As it was written: methods have letters of one case.
    pub method: String,
    /// Without what stands behind `?`.
    pub path: String,
    headers: Vec<(String, String)>,
    /// As long as its head has said.
    pub body: Vec<u8>,
}

impl Request {
    /// A header's value; `None` for one that is there twice, since nobody knows which one counts.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    /// A cookie's value.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let cookies = self.header("cookie")?;
        cookies
            .split(';')
            .filter_map(|cookie| cookie.trim().split_once('='))
            .find(|(known, _)| *known == name)
            .map(|of| of.1)
    }
}

/// Reads one request; the status to answer with where it is none that can be read. `None` for one that does not come.
///
/// # Errors
/// What broke the connection, or that the request does not come in time.
pub fn read(stream: &mut Stream, bounds: &Bounds) -> io::Result<Option<Result<Request, u16>>> {
    let request = receive(stream, bounds)?;
    stream.unread = matches!(request, Some(Err(_)));
    Ok(request)
}

fn receive(stream: &mut Stream, bounds: &Bounds) -> io::Result<Option<Result<Request, u16>>> {
    let until = Instant::now() + bounds.patience;
    let mut bytes = Vec::new();
    let mut part = [0; 8 * 1024];
    let (mut request, length) = loop {
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
                if has("transfer-encoding") > 0 || has("content-length") > 1 {
                    return Ok(Some(Err(400)));
                }
                let length = match request.header("content-length").map(str::parse::<usize>) {
                    None => 0,
                    Some(Ok(length)) if length <= bounds.body => length,
                    Some(Ok(_)) => return Ok(Some(Err(413))),
                    Some(Err(_)) => return Ok(Some(Err(400))),
                };
                break (request, length);
            }
            Ok(httparse::Status::Partial) if bytes.len() < bounds.head => {}
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
    request.body.truncate(length);
    Ok(Some(Ok(request)))
}
