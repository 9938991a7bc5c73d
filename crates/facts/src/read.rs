//! Reads the files of facts: a line of names, then a line for each row, with tabs between cells.

/// What a cell can hold.
pub trait Cell {
    /// The value of a cell; the files are ours, so what does not fit is a mistake in them.
    fn read(cell: &'static str) -> Self;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Cell for $number {
            fn read(cell: &'static str) -> Self {
                cell.parse().unwrap_or_else(|_| unreachable!("{cell:?} is no number"))
            }
        }
    )*};
}

numbers!(u32, i32, f32);

impl Cell for bool {
    fn read(cell: &'static str) -> Self {
        cell == "t"
    }
}

impl Cell for char {
    fn read(cell: &'static str) -> Self {
        cell.chars().next().unwrap_or('\0')
    }
}

impl Cell for &'static str {
    fn read(cell: &'static str) -> Self {
        cell
    }
}

/// Words with commas between; an empty cell has none.
impl<T: Cell> Cell for Box<[T]> {
    fn read(cell: &'static str) -> Self {
        if cell.is_empty() { Box::default() } else { cell.split(',').map(T::read).collect() }
    }
}

/// A file as a table of structs, read at its first use.
macro_rules! facts {
    ($(#[$about:meta])* $name:ident from $file:literal { $($(#[$doc:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $kind,)*
        }

        impl $name {
            const FILE: &'static str = include_str!(concat!("../data/", $file));

            /// All of them, in the order of the file.
            pub fn all() -> &'static [Self] {
                static ALL: std::sync::LazyLock<Vec<$name>> =
                    std::sync::LazyLock::new(|| $name::table($name::FILE));
                &ALL
            }

            /// The rows of a text.
            pub(crate) fn table(text: &'static str) -> Vec<Self> {
                text.lines().skip(1).map(Self::read).collect()
            }

            fn read(line: &'static str) -> Self {
                let mut cells = line.split('\t');
                Self { $($field: $crate::read::Cell::read(cells.next().unwrap_or_default()),)* }
            }

            /// The names of the fields, as the first line of the file should have them.
            #[cfg(test)]
            pub(crate) const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];
            #[cfg(test)]
            pub(crate) fn head() -> Vec<&'static str> {
                Self::FILE.lines().next().unwrap_or_default().split('\t').collect()
            }
        }
    };
}
pub(crate) use facts;
