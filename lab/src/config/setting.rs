//! How the values of a configuration are read and written: one way for files, `--set` and what a run writes back.
//!
//! `section!`, `keys!` and `record!` list the keys of a table. `words!` and `names!` list the words that stand for
//! values. `kinds!` lists tables with a tag for their kind. A field that a list leaves out does not compile.

use std::path::PathBuf;

use gridweave_core::time::{Span, Time};
use toml::{Table, Value};

use crate::lasting::{self, Lasting};

/// A value that a configuration can hold.
pub(crate) trait Setting: Sized {
    /// Reads a value.
    fn read(value: &Value) -> Result<Self, Wrong>;

    /// Writes the value; `None` leaves it out.
    fn write(&self) -> Option<Value>;
}

/// An error in a configuration, with the keys that lead to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wrong {
    /// The keys that lead to the value, the outermost last.
    path: Vec<String>,
    what: String,
}

impl Wrong {
    /// An error about the value that is being read.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            path: Vec::new(),
            what: what.into(),
        }
    }

    /// The error that a value is not what was expected.
    fn not(expected: &str, found: &Value) -> Self {
        let mut found = found.to_string().replace('\n', " ");
        if let Some((cut, _)) = found.char_indices().nth(40) {
            found.truncate(cut);
            found.push('…');
        }
        Self::new(format!("{found} is not {expected}"))
    }

    /// The same error, one key further out.
    #[must_use]
    pub(crate) fn at(mut self, key: &str) -> Self {
        self.path.push(key.into());
        self
    }

    /// The keys that lead to the value, the outermost first.
    pub(crate) fn path(&self) -> impl Iterator<Item = &str> {
        self.path.iter().rev().map(String::as_str)
    }
}

impl std::fmt::Display for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path: Vec<&str> = self.path().collect();
        match path.is_empty() {
            true => f.write_str(&self.what),
            false => write!(f, "{}: {}", path.join("."), self.what),
        }
    }
}

/// The value as a table.
pub(crate) fn table(value: &Value) -> Result<&Table, Wrong> {
    value
        .as_table()
        .ok_or_else(|| Wrong::not("a table of keys and values; write { key = value }", value))
}

/// The error that a key is unknown.
pub(crate) fn unknown(key: &str, known: &[&str]) -> Wrong {
    let known = known.join(", ");
    Wrong::new(format!("no such key; there are {known}")).at(key)
}

/// The value of a required key.
pub(crate) fn required<T: Setting>(table: &Table, key: &str) -> Result<T, Wrong> {
    let value = table.get(key);
    let value = value.ok_or_else(|| Wrong::new("is missing; add it").at(key))?;
    T::read(value).map_err(|wrong| wrong.at(key))
}

/// Puts a value into a table, if there is one.
pub(crate) fn put(table: &mut Table, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        table.insert(key.into(), value);
    }
}

/// A table of these values, without those that are `None`.
pub(crate) fn written(values: Vec<(&str, Option<Value>)>) -> Option<Value> {
    let mut table = Table::new();
    for (key, value) in values {
        put(&mut table, key, value);
    }
    Some(Value::Table(table))
}

/// Refuses a table that has other keys than these.
pub(crate) fn only(table: &Table, known: &[&str]) -> Result<(), Wrong> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(unknown(key, known)),
        None => Ok(()),
    }
}

/// The index of the word that the value is.
pub(crate) fn word(value: &Value, words: &[&str]) -> Result<usize, Wrong> {
    let found = value.as_str();
    let found = found.and_then(|found| words.iter().position(|word| *word == found));
    found.ok_or_else(|| Wrong::not(&format!("one of {}", words.join(", ")), value))
}

/// A struct that is a table of a configuration, with defaults: `section! { struct Type { field: u8 = 1, } }`.
macro_rules! section {
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
    ($(#[$about:meta])* $visible:vis struct $type:ident {
        $($(#[$says:meta])* $shown:vis $field:ident: $kind:ty $(= $default:expr)?,)*
    }) => {
        $(#[$about])*
        $visible struct $type {
            $($(#[$says])* $shown $field: $kind,)*
        }

        impl Default for $type {
            fn default() -> Self {
                Self { $($field: $crate::config::setting::section!(@default $($default)?),)* }
            }
        }

        $crate::config::setting::keys!($type { $($field),* });
    };
}
pub(crate) use section;

/// A table in which each key is optional: `keys!(Type { field, field })`.
macro_rules! keys {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl $crate::config::setting::Setting for $type {
            fn read(value: &::toml::Value) -> Result<Self, $crate::config::setting::Wrong> {
                let mut all = Self::default();
                for (key, value) in $crate::config::setting::table(value)? {
                    match key.as_str() {
                        $(stringify!($field) => {
                            let read = $crate::config::setting::Setting::read(value);
                            all.$field = read.map_err(|wrong| wrong.at(key))?;
                        })*
                        _ => {
                            let known = [$(stringify!($field)),*];
                            return Err($crate::config::setting::unknown(key, &known));
                        }
                    }
                }
                Ok(all)
            }

            fn write(&self) -> Option<::toml::Value> {
                let Self { $($field),* } = self;
                $crate::config::setting::written(::std::vec![$(
                    (stringify!($field), $crate::config::setting::Setting::write($field)),
                )*])
            }
        }
    };
}
pub(crate) use keys;

/// A table in which each key is required: `record!(Type { field, field })`.
macro_rules! record {
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl $crate::config::setting::Setting for $type {
            fn read(value: &::toml::Value) -> Result<Self, $crate::config::setting::Wrong> {
                let table = $crate::config::setting::table(value)?;
                $crate::config::setting::only(table, &[$(stringify!($field)),*])?;
                Ok(Self {
                    $($field: $crate::config::setting::required(table, stringify!($field))?,)*
                })
            }

            fn write(&self) -> Option<::toml::Value> {
                let Self { $($field),* } = self;
                $crate::config::setting::written(::std::vec![$(
                    (stringify!($field), $crate::config::setting::Setting::write($field)),
                )*])
            }
        }
    };
}
pub(crate) use record;

/// Words that stand for values: `names!(Type { Value = "word" })`. With `else`, other values are not written.
macro_rules! names {
    ($type:ty { $($value:ident = $word:literal),* $(,)? } $(also { $($other:ident = $alias:literal),* })? $(else $rest:pat)?) => {
        impl $crate::config::setting::Setting for $type {
            fn read(value: &::toml::Value) -> Result<Self, $crate::config::setting::Wrong> {
                $($(if value.as_str() == Some($alias) {
                    return Ok(Self::$other);
                })*)?
                let values = [$(Self::$value),*];
                let index = $crate::config::setting::word(value, &[$($word),*])?;
                Ok(values[index])
            }

            fn write(&self) -> Option<::toml::Value> {
                match self {
                    $(Self::$value => Some($word.into()),)*
                    $($rest => None,)?
                }
            }
        }
    };
}
pub(crate) use names;

/// An enum in which each value is a word: `words! { enum Type { Value = "word", } }`.
macro_rules! words {
    ($(#[$about:meta])* $visible:vis enum $type:ident {
        $($(#[$says:meta])* $value:ident = $word:literal,)*
    }) => {
        $(#[$about])*
        $visible enum $type {
            $($(#[$says])* $value,)*
        }

        $crate::config::setting::names!($type { $($value = $word),* });
    };
}
pub(crate) use words;

/// Tables with a tag for their kind: `kinds!(Type by "kind" { Variant { field } = "word" })`. All fields are required.
macro_rules! kinds {
    ($type:ident by $tag:literal { $($variant:ident { $($field:ident),* } = $word:literal),* $(,)? }) => {
        impl $crate::config::setting::Setting for $type {
            fn read(value: &::toml::Value) -> Result<Self, $crate::config::setting::Wrong> {
                let table = $crate::config::setting::table(value)?;
                let missing = || $crate::config::setting::Wrong::new("is missing; add it").at($tag);
                let tag = table.get($tag).ok_or_else(missing)?;
                let index = $crate::config::setting::word(tag, &[$($word),*]);
                let kind = [$($word),*][index.map_err(|wrong| wrong.at($tag))?];
                match kind {
                    $($word => {
                        $crate::config::setting::only(table, &[$tag, $(stringify!($field)),*])?;
                        Ok(Self::$variant {
                            $($field: $crate::config::setting::required(table, stringify!($field))?,)*
                        })
                    })*
                    _ => unreachable!("it is one of these words"),
                }
            }

            fn write(&self) -> Option<::toml::Value> {
                match self {
                    $(Self::$variant { $($field),* } => $crate::config::setting::written(::std::vec![
                        ($tag, Some($word.into())),
                        $((stringify!($field), $crate::config::setting::Setting::write($field)),)*
                    ]),)*
                }
            }
        }
    };
}
pub(crate) use kinds;

macro_rules! whole_numbers {
    ($($type:ident)*) => {
        $(impl Setting for $type {
            fn read(value: &Value) -> Result<Self, Wrong> {
                let number = value.as_integer().and_then(|number| Self::try_from(number).ok());
                number.ok_or_else(|| {
                    let most = i64::try_from(Self::MAX).unwrap_or(i64::MAX);
                    Wrong::not(&format!("a whole number from 0 to {most}"), value)
                })
            }

            fn write(&self) -> Option<Value> {
                // A number that TOML cannot hold is refused earlier, when the configuration is checked.
                Some(Value::Integer(i64::try_from(*self).unwrap_or(i64::MAX)))
            }
        })*
    };
}
whole_numbers!(u8 u16 u32 u64 usize);

impl Setting for bool {
    fn read(value: &Value) -> Result<Self, Wrong> {
        let found = value.as_bool();
        found.ok_or_else(|| Wrong::not("true or false", value))
    }

    fn write(&self) -> Option<Value> {
        Some(Value::Boolean(*self))
    }
}

impl Setting for f64 {
    fn read(value: &Value) -> Result<Self, Wrong> {
        let whole = || value.as_integer().map(|number| number as Self);
        let found = value.as_float().or_else(whole);
        found.ok_or_else(|| Wrong::not("a number", value))
    }

    fn write(&self) -> Option<Value> {
        Some(Value::Float(*self))
    }
}

impl Setting for String {
    fn read(value: &Value) -> Result<Self, Wrong> {
        let text = value.as_str().map(Self::from);
        text.ok_or_else(|| Wrong::not("a text; write it in quotes", value))
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(self.clone()))
    }
}

impl Setting for PathBuf {
    fn read(value: &Value) -> Result<Self, Wrong> {
        String::read(value).map(Self::from)
    }

    fn write(&self) -> Option<Value> {
        self.to_str().map(Value::from)
    }
}

impl Setting for Span {
    fn read(value: &Value) -> Result<Self, Wrong> {
        let text = value.as_str();
        let text = text.ok_or_else(|| {
            Wrong::not("a length of time; write it as text, such as '90s'", value)
        })?;
        lasting::parse(text).map_err(|error| Wrong::new(error.to_string()))
    }

    fn write(&self) -> Option<Value> {
        Some(Value::String(Lasting(*self).to_string()))
    }
}

impl Setting for Time {
    fn read(value: &Value) -> Result<Self, Wrong> {
        Span::read(value).map(|since| Self::ZERO + since)
    }

    fn write(&self) -> Option<Value> {
        (*self - Self::ZERO).write()
    }
}

impl<T: Setting> Setting for Option<T> {
    fn read(value: &Value) -> Result<Self, Wrong> {
        T::read(value).map(Some)
    }

    fn write(&self) -> Option<Value> {
        self.as_ref().and_then(T::write)
    }
}

/// An empty list is left out when written, and reads back as the default.
impl<T: Setting> Setting for Vec<T> {
    fn read(value: &Value) -> Result<Self, Wrong> {
        let values = value.as_array();
        let values = values.ok_or_else(|| Wrong::not("a list; write [first, second]", value))?;
        let read = |(index, value)| T::read(value).map_err(|wrong| wrong.at(&index_of(index)));
        values.iter().enumerate().map(read).collect()
    }

    fn write(&self) -> Option<Value> {
        let values: Vec<Value> = self.iter().filter_map(T::write).collect();
        (!values.is_empty()).then_some(Value::Array(values))
    }
}

fn index_of(index: usize) -> String {
    index.to_string()
}

impl<T: Setting + Copy> Setting for [T; 2] {
    fn read(value: &Value) -> Result<Self, Wrong> {
        let read = Vec::<T>::read(value)?;
        Self::try_from(read).map_err(|_| Wrong::not("a list of two; write [first, second]", value))
    }

    fn write(&self) -> Option<Value> {
        self.to_vec().write()
    }
}
