//! Rows on their way.

/// A row's values as text of their neutral types, bytes as they are. Used again for the next row.
#[derive(Debug, Default)]
pub(super) struct Row {
    bytes: Vec<u8>,
    /// Where each value stands; nothing for NULL.
    values: Vec<Option<(usize, usize)>>,
}

impl Row {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.values.clear();
    }

    pub(super) fn push(&mut self, value: Option<&[u8]>) {
        match value {
            None => self.values.push(None),
            Some(value) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(value);
                self.values.push(Some((start, self.bytes.len())));
            }
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<&[u8]> {
        self.values.get(at).copied().flatten().map(|(start, end)| &self.bytes[start..end])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.values.iter().map(|place| place.map(|(start, end)| &self.bytes[start..end]))
    }

    /// Bytes of its values.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }
}
