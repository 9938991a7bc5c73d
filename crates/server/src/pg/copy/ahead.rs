//! The data of a long COPY FROM are read by a thread of its own, while the session's inserts the rows that were read before.
//!
//! Pieces go there in order, and come back in order with their rows. Who runs ahead is bounded: there are [`Ahead::MOST`] batches,
//! of a piece of at most [`PIECE`] bytes each, and their room serves the pieces that follow. What is not told to the client while a
//! piece is under way is told with the next one, or at the end.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle, available_parallelism};

use rowferry_dialect::values::Settings;
use rowferry_engine::{Error, Result, Type, memory};

use super::data_in::{CopyIn, InRow, KEPT_ROOM, RowAt, Take};

/// A batch is made of so many bytes of the data at most.
const PIECE: usize = 64 * 1024;

/// A row that is longer is none for a thread on which no session's memory is counted.
const LONGEST: usize = 4 * PIECE;

/// A piece of the data, and the rows that it completes.
#[derive(Debug, Default)]
pub(in super::super) struct Batch {
    data: Vec<u8>,
    rows: Vec<InRow>,
    /// Of each row its line, and where its text ends among `texts`; none has a text in binary format.
    places: Vec<(u64, usize)>,
    texts: Vec<u8>,
    has_texts: bool,
    /// What came instead of the next row.
    failed: Option<Error>,
    /// Bytes that are no whole row yet.
    kept: usize,
}

impl Batch {
    fn read(&mut self, reader: &mut CopyIn, settings: &Settings) {
        self.places.clear();
        self.texts.clear();
        let Self { data, rows, places, texts, has_texts, .. } = &mut *self;
        let mut take = |row: &mut InRow, at: RowAt<'_>| {
            let index = places.len();
            match rows.get_mut(index) {
                Some(room) => std::mem::swap(room, row),
                None => rows.push(std::mem::take(row)),
            }
            *has_texts = at.text.is_some();
            texts.extend_from_slice(at.text.unwrap_or_default());
            places.push((at.line, texts.len()));
            Ok(())
        };
        self.failed = reader.feed(data, settings, &mut take).err();
        self.kept = reader.kept();
    }

    /// Gives each row to `take`, and then what came instead of the next.
    pub(in super::super) fn give(&mut self, take: &mut Take<'_>) -> Result<()> {
        let mut start = 0;
        for (row, (line, end)) in self.rows.iter_mut().zip(&self.places) {
            let text = self.has_texts.then(|| &self.texts[start..*end]);
            take(row, RowAt { line: *line, text })?;
            start = *end;
        }
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Its room is what a piece takes, and may serve the next.
    fn is_modest(&self) -> bool {
        self.texts.len() <= 2 * KEPT_ROOM
    }
}

/// A thread that reads ahead.
#[derive(Debug)]
pub(in super::super) struct Ahead {
    pieces: Sender<Batch>,
    read: Receiver<Batch>,
    /// Batches that are at the thread.
    under_way: usize,
    idle: Vec<Batch>,
    thread: JoinHandle<Option<Box<CopyIn>>>,
}

impl Ahead {
    /// So many batches are on their way at most, that which is inserted included.
    const MOST: usize = 3;

    /// True when a thread of its own may read these columns, and there is a processor for it. Types whose input asks the session for
    /// names, and those of users, are left to the session's.
    pub(in super::super) fn serves(reader: &CopyIn) -> bool {
        reader.columns().iter().all(|column| is_plain(&column.ty))
            && available_parallelism().is_ok_and(|processors| processors.get() > 1)
    }

    /// Has a thread read the rest of the data; the reader comes back when none can be had.
    pub(in super::super) fn begin(
        reader: Box<CopyIn>,
        settings: Arc<Settings>,
    ) -> std::result::Result<Self, Box<CopyIn>> {
        // What a thread is made with is gone when it cannot be made: so it is handed over when it is there.
        let (hand_over, handed) = channel::<Box<CopyIn>>();
        let (pieces, taken) = channel::<Batch>();
        let (give_back, read) = channel();
        let work = move || {
            let mut reader = handed.recv().ok()?;
            while let Ok(mut batch) = taken.recv() {
                batch.read(&mut reader, &settings);
                if give_back.send(batch).is_err() {
                    break;
                }
            }
            memory::session_ends();
            Some(reader)
        };
        match Builder::new().name("copy".into()).spawn(work) {
            Ok(thread) => match hand_over.send(reader) {
                Ok(()) => Ok(Self { pieces, read, under_way: 0, idle: Vec::new(), thread }),
                Err(unsent) => Err(unsent.0),
            },
            Err(error) => {
                tracing::debug!(%error, "no thread can be had to read the data of a COPY");
                Err(reader)
            }
        }
    }

    /// Sends a piece of the data there. Rows that have been read meanwhile are given to `take`.
    ///
    /// # Errors
    /// What came instead of a row, and what `take` says.
    pub(in super::super) fn feed(&mut self, data: &[u8], mut take: impl FnMut(&mut Batch) -> Result<()>) -> Result<()> {
        for piece in data.chunks(PIECE) {
            let mut batch = self.idle.pop().unwrap_or_default();
            batch.data.clear();
            batch.data.extend_from_slice(piece);
            self.pieces.send(batch).map_err(|_| gone())?;
            self.under_way += 1;
            if self.under_way == Self::MOST {
                self.wait(&mut take)?;
            }
        }
        Ok(())
    }

    /// True when the last row that came back is too long for it: the session's thread is to go on.
    pub(in super::super) fn is_over(&self) -> bool {
        self.idle.last().is_some_and(|batch| batch.kept > LONGEST)
    }

    /// Waits for all pieces that are under way; the reader comes back.
    ///
    /// # Errors
    /// As [`Ahead::feed`].
    pub(in super::super) fn end(mut self, mut take: impl FnMut(&mut Batch) -> Result<()>) -> Result<Box<CopyIn>> {
        while self.under_way > 0 {
            self.wait(&mut take)?;
        }
        drop(self.pieces);
        self.thread.join().ok().flatten().ok_or_else(gone)
    }

    fn wait(&mut self, take: &mut impl FnMut(&mut Batch) -> Result<()>) -> Result<()> {
        let mut batch = self.read.recv().map_err(|_| gone())?;
        self.under_way -= 1;
        take(&mut batch)?;
        if !batch.is_modest() {
            // What it is long for is measured by what comes next.
            batch = Batch { kept: batch.kept, ..Batch::default() };
        }
        self.idle.push(batch);
        Ok(())
    }
}

/// The thread has ended before its work, as it does when something in it is broken.
fn gone() -> Error {
    Error::internal("the thread that reads the data of a COPY has ended")
}

/// Reading it takes nothing but its text.
fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Int2 | Type::Int4 | Type::Int8 | Type::Oid => true,
        Type::Float4 | Type::Float8 | Type::Numeric(_) => true,
        Type::Text | Type::Varchar(_) | Type::Char(_) | Type::Name | Type::Bytea => true,
        Type::Date | Type::Time(_) | Type::TimeTz(_) | Type::Timestamp(_) | Type::TimestampTz(_) => true,
        Type::Interval(_) | Type::Uuid | Type::Json | Type::Jsonb => true,
        Type::Array(element) => is_plain(element),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rowferry_dialect::ir::{CopyFormat, Value};
    use rowferry_engine::Condition;

    use super::super::data_in::tests::options;
    use super::super::{Column, CopyOut};
    use super::*;

    fn columns() -> Vec<Column> {
        let named = |(name, ty): (&str, Type)| Column { name: name.into(), ty };
        [("a", Type::Int4), ("b", Type::Text), ("c", Type::Date)].map(named).into()
    }

    fn rows(count: i64) -> Vec<InRow> {
        let text = |number: i64| match number % 3 {
            0 => Value::Null,
            1 => Value::Text("a,b\n\\\"".repeat((number % 40) as usize)),
            _ => Value::Text(number.to_string()),
        };
        let row = |number| vec![Value::Integer(number), text(number), Value::Text("2024-02-29".into())];
        (0..count).map(row).collect()
    }

    fn written(format: CopyFormat, rows: &[InRow]) -> Vec<u8> {
        let mut copy = CopyOut::new(options(format), columns()).unwrap();
        let mut out = Vec::new();
        copy.begin(&mut out);
        for row in rows {
            copy.row(&mut out, |index| row[index].as_ref(), &Settings::default()).unwrap();
        }
        out
    }

    /// The rows, the lines at which they end and their texts, and how reading ends.
    type Read = (Vec<(InRow, u64, Option<Vec<u8>>)>, Result<()>);

    /// Reads by a thread of its own, in pieces of `size` bytes, or else here.
    fn read(format: CopyFormat, data: &[u8], size: Option<usize>) -> Read {
        let mut reader = Box::new(CopyIn::new(options(format), ("t".into(), false), columns(), 1 << 20));
        let mut rows = Vec::new();
        let mut take = |row: &mut InRow, at: RowAt<'_>| {
            rows.push((row.clone(), at.line, at.text.map(<[u8]>::to_vec)));
            Ok(())
        };
        let settings = Arc::new(Settings::default());
        let end = match size {
            None => reader.feed(data, &settings, &mut take).and_then(|()| reader.finish(&settings, &mut take)),
            Some(size) => (|| {
                let mut ahead = Ahead::begin(reader, settings.clone()).unwrap();
                for piece in data.chunks(size) {
                    ahead.feed(piece, |batch| batch.give(&mut take))?;
                }
                reader = ahead.end(|batch| batch.give(&mut take))?;
                reader.finish(&settings, &mut take)
            })(),
        };
        (rows, end)
    }

    #[test]
    fn what_is_read_ahead_is_what_is_read_here() {
        for format in [CopyFormat::Text, CopyFormat::Csv, CopyFormat::Binary] {
            let data = written(format, &rows(5_000));
            let expected = read(format, &data, None);
            assert_eq!(expected.0.len(), 5_000);
            for size in [999, PIECE, data.len()] {
                assert_eq!(read(format, &data, Some(size)), expected, "{format:?} in pieces of {size}");
            }
            // What is wrong comes behind the rows before it.
            let mut wrong = data[..data.len() / 2].to_vec();
            wrong.extend_from_slice(b"\nno,row\n\xff\xff\xff\xff\xff\xff\xff\xff\n");
            let expected = read(format, &wrong, None);
            assert!(expected.1.is_err() && expected.0.len() > 2_000, "{format:?}");
            assert_eq!(read(format, &wrong, Some(10_000)), expected, "{format:?}");
        }
    }

    #[test]
    fn what_takes_a_row_may_refuse_it() {
        let reader = Box::new(CopyIn::new(options(CopyFormat::Csv), ("t".into(), false), columns(), 1 << 20));
        let labels = reader.labels();
        let mut ahead = Ahead::begin(reader, Arc::new(Settings::default())).unwrap();
        let mut taken = 0;
        let mut take = |_: &mut InRow, at: RowAt<'_>| {
            taken += 1;
            let refused = || labels.refused(Error::new(Condition::UniqueViolation, "twice"), at);
            if taken == 3_000 { Err(refused()) } else { Ok(()) }
        };
        let data = "1,b,2024-01-01\n".repeat(5_000);
        let fed = ahead.feed(data.as_bytes(), |batch| batch.give(&mut take));
        let ended = fed.and_then(|()| ahead.end(|batch| batch.give(&mut take)).map(drop));
        assert_eq!(ended.unwrap_err().context.as_deref(), Some("COPY t, line 3000"));
        assert_eq!(taken, 3_000);
    }

    #[test]
    fn a_long_row_comes_back() {
        let reader = Box::new(CopyIn::new(options(CopyFormat::Csv), ("t".into(), false), columns(), 1 << 30));
        let mut ahead = Ahead::begin(reader, Arc::new(Settings::default())).unwrap();
        let piece = vec![b'x'; PIECE];
        let mut fed = 0;
        while !ahead.is_over() {
            assert!(fed <= LONGEST + 2 * Ahead::MOST * PIECE, "it goes on for ever");
            ahead.feed(&piece, |_| Ok(())).unwrap();
            fed += piece.len();
        }
        assert_eq!(ahead.end(|_| Ok(())).unwrap().kept(), fed);
    }

    #[test]
    fn types_that_ask_the_session_are_not_read_ahead() {
        assert!(is_plain(&Type::Array(Box::new(Type::Int4))));
        assert!(!is_plain(&Type::Reg(rowferry_dialect::types::Reg::Class)));
    }
}
