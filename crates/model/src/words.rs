//! Enums whose variants have a word each.

/// Defines an enum with the list of its variants, the word of each, and the way back from a word.
///
/// `pub enum Status as word { Running = "running" }` gives `Status::ALL`, `Status::WORDS`, `Status::word`
/// and `Status::parse`.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident as $word:ident {
        $($(#[$about:meta])* $variant:ident = $text:literal,)+
    }) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$about])* $variant,)+
        }

        impl $name {
            /// Every variant, in order.
            pub const ALL: [$name; [$($text),+].len()] = [$($name::$variant),+];

            /// The words of all variants, in order.
            pub const WORDS: &[&str] = &[$($text),+];

            /// Its word in documents and messages.
            pub const fn $word(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }

            /// The variant of a word; `None` for an unknown word.
            pub fn parse(word: &str) -> Option<$name> {
                $name::ALL.into_iter().find(|one| one.$word() == word)
            }
        }
    };
}
