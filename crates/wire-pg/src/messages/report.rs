//! What a server says about itself and about what went wrong.

use std::borrow::Cow;

use rowferry_wire::{Malformed, Reader, Writer};

use super::{put_text, text};

rowferry_wire::open_enum! {
    /// Whether the session is in a transaction.
    pub struct TransactionStatus(u8) {
        /// Not in a transaction.
        IDLE = b'I',
        /// In a transaction.
        IN_TRANSACTION = b'T',
        /// In a transaction that has failed: only its end is accepted.
        FAILED = b'E',
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Severity {
    /// For developers.
    Debug,
    /// The statement failed.
    Error,
    /// The session is over.
    Fatal,
    /// What the user asked to be told.
    Info,
    /// For the log.
    Log,
    /// What the user might like to know.
    Notice,
    /// All sessions are over.
    Panic,
    /// What the user should know.
    Warning,
}

impl Severity {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Error => "ERROR",
            Self::Fatal => "FATAL",
            Self::Info => "INFO",
            Self::Log => "LOG",
            Self::Notice => "NOTICE",
            Self::Panic => "PANIC",
            Self::Warning => "WARNING",
        }
    }

    fn from_wire(word: &str) -> Option<Self> {
        [Self::Debug, Self::Error, Self::Fatal, Self::Info, Self::Log, Self::Notice, Self::Panic, Self::Warning]
            .into_iter()
            .find(|severity| severity.as_str() == word)
    }
}

macro_rules! notice {
    ($($(#[$meta:meta])* $name:ident $code:literal,)*) => {
        /// The fields of an `ErrorResponse` or a `NoticeResponse`.
        #[derive(Clone, Debug, Eq, PartialEq)]
        pub struct Notice<'a> {
            /// How bad it is (`S`, `V`).
            pub severity: Severity,
            /// The five characters of the SQLSTATE (`C`).
            pub sqlstate: Cow<'a, str>,
            /// What went wrong, in one line (`M`).
            pub message: Cow<'a, str>,
            $($(#[$meta])* pub $name: Option<Cow<'a, str>>,)*
        }

        impl<'a> Notice<'a> {
            /// A notice with the three fields that are always there.
            pub fn new(
                severity: Severity,
                sqlstate: impl Into<Cow<'a, str>>,
                message: impl Into<Cow<'a, str>>,
            ) -> Self {
                Self { severity, sqlstate: sqlstate.into(), message: message.into(), $($name: None,)* }
            }

            /// The same with everything owned.
            pub fn into_owned(self) -> Notice<'static> {
                Notice {
                    severity: self.severity,
                    sqlstate: Cow::Owned(self.sqlstate.into_owned()),
                    message: Cow::Owned(self.message.into_owned()),
                    $($name: self.$name.map(|text| Cow::Owned(text.into_owned())),)*
                }
            }

            pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
                let mut notice = Self::new(Severity::Error, "XX000", "");
                loop {
                    let code = reader.u8("notice field")?;
                    if code == 0 {
                        return Ok(notice);
                    }
                    let value = String::from_utf8_lossy(reader.until_nul("notice field text")?);
                    match code {
                        b'S' | b'V' => {
                            // `S` is translated; `V`, which follows it, never is.
                            if let Some(severity) = Severity::from_wire(&value) {
                                notice.severity = severity;
                            }
                        }
                        b'C' => notice.sqlstate = value,
                        b'M' => notice.message = value,
                        $($code => notice.$name = Some(value),)*
                        // The protocol tells clients to ignore fields that they do not know.
                        _ => {}
                    }
                }
            }

            pub(super) fn encode(&self, writer: &mut Writer<'_>) {
                for (code, value) in [
                    (b'S', self.severity.as_str()),
                    (b'V', self.severity.as_str()),
                    (b'C', &*self.sqlstate),
                    (b'M', &*self.message),
                ] {
                    writer.u8(code);
                    put_text(writer, value);
                }
                $(if let Some(value) = &self.$name {
                    writer.u8($code);
                    put_text(writer, value);
                })*
                writer.u8(0);
            }
        }
    };
}

notice! {
    /// More about it (`D`).
    detail b'D',
    /// What to do about it (`H`).
    hint b'H',
    /// Where in the statement, in characters from 1 (`P`).
    position b'P',
    /// Where in `internal_query` (`p`).
    internal_position b'p',
    /// A statement that the server itself ran (`q`).
    internal_query b'q',
    /// What the server was doing (`W`).
    context b'W',
    /// The schema concerned (`s`).
    schema b's',
    /// The table concerned (`t`).
    table b't',
    /// The column concerned (`c`).
    column b'c',
    /// The data type concerned (`d`).
    data_type b'd',
    /// The constraint concerned (`n`).
    constraint b'n',
    /// The source file (`F`).
    file b'F',
    /// The line there (`L`).
    line b'L',
    /// The function there (`R`).
    routine b'R',
}

/// A setting and its value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ParameterStatus<'a> {
    /// The setting's name.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
}

impl<'a> ParameterStatus<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self { name: text(reader, "parameter name")?, value: text(reader, "parameter value")? })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        put_text(writer, self.name);
        put_text(writer, self.value);
    }
}

/// What a cancel request must name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BackendKeyData<'a> {
    /// The session's number.
    pub process: u32,
    /// The session's secret: 4 bytes in protocol 3.0, 4 to 256 in 3.2.
    pub key: &'a [u8],
}

impl<'a> BackendKeyData<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let process = reader.u32("BackendKeyData process")?;
        let key = reader.rest();
        if key.len() < 4 || key.len() > super::MAX_CANCEL_KEY {
            return Err(Malformed::new("BackendKeyData key"));
        }
        Ok(Self { process, key })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.u32(self.process).raw(self.key);
    }
}

/// Another session's NOTIFY.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Notification<'a> {
    /// The session that notified.
    pub process: u32,
    /// The channel.
    pub channel: &'a str,
    /// What it said.
    pub payload: &'a str,
}

impl<'a> Notification<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            process: reader.u32("Notification process")?,
            channel: text(reader, "Notification channel")?,
            payload: text(reader, "Notification payload")?,
        })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.u32(self.process);
        put_text(writer, self.channel);
        put_text(writer, self.payload);
    }
}

/// The newest minor version that the server speaks, and the options it did not recognise.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NegotiateProtocolVersion<'a> {
    /// Major and minor version as one number, `major << 16 | minor`.
    pub version: u32,
    /// Names beginning `_pq_.` that the server does not know.
    pub unrecognized: Vec<&'a str>,
}

impl<'a> NegotiateProtocolVersion<'a> {
    pub(super) fn decode(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let version = reader.u32("negotiated version")?;
        let count = reader.u32("number of unrecognized options")? as usize;
        reader.fits(count, 1, "number of unrecognized options")?;
        let unrecognized = (0..count).map(|_| text(reader, "unrecognized option")).collect::<Result<_, _>>()?;
        Ok(Self { version, unrecognized })
    }

    pub(super) fn encode(&self, writer: &mut Writer<'_>) {
        writer.u32(self.version).u32(u32::try_from(self.unrecognized.len()).unwrap_or(u32::MAX));
        for name in &self.unrecognized {
            put_text(writer, name);
        }
    }
}
