/// Declares a protocol enumeration that keeps the codes it does not know.
///
/// The type is a newtype over the integer with one constant for each known name, so that an unknown code survives a
/// round trip and prints in hexadecimal instead of failing to decode.
///
/// ```
/// rowferry_wire::open_enum! {
///     /// How a value is sent.
///     pub struct Format(u16) {
///         /// As text.
///         TEXT = 0,
///         /// As the type's own bytes.
///         BINARY = 1,
///     }
/// }
/// assert_eq!(Format::BINARY.name(), Some("BINARY"));
/// assert_eq!(format!("{:?}", Format(0x1f)), "Format(0x1f)");
/// ```
#[macro_export]
macro_rules! open_enum {
    ($(#[$meta:meta])* $vis:vis struct $name:ident($repr:ty) { $($(#[$item_meta:meta])* $item:ident = $value:expr,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
        $vis struct $name(pub $repr);

        #[allow(dead_code)]
        impl $name {
            $($(#[$item_meta])* pub const $item: Self = Self($value);)*

            /// The protocol's name for this code, if it is a known one.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $(x if x == $value => Some(stringify!($item)),)*
                    _ => None,
                }
            }
        }

        impl ::core::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, concat!(stringify!($name), "({:#04x})"), self.0),
                }
            }
        }
    };
}
