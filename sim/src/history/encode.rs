//! Encodes values in postcard's format. It has its own encoder for speed: every message of a simulation is encoded.
//!
//! Postcard's serializer hands over each number as a slice of unknown length. Appending these took as long as all other
//! work on a small message. Here a number is written as a whole word, and the next number overwrites the unused bytes.

use postcard::Error;
use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

/// The room for an encoding must be this many bytes longer than the encoding.
pub(super) const SPARE: usize = 8;

/// Writes the encoding of a value to the beginning of `to`, and returns its length. If `to` is not at least [`SPARE`]
/// bytes longer than that, its contents mean nothing.
///
/// # Panics
/// If the value's own `Serialize` fails; those of plain data never do.
#[inline]
pub(super) fn write(value: &impl Serialize, to: &mut [u8]) -> usize {
    let mut encoder = Encoder { to, len: 0 };
    value
        .serialize(&mut encoder)
        .expect("plain data always encodes");
    encoder.len
}

/// Counts all bytes, and writes them while there is room: making room here would cost more than writing.
struct Encoder<'a> {
    to: &'a mut [u8],
    len: usize,
}

type Done = Result<(), Error>;

impl Encoder<'_> {
    /// Writes all these bytes at once; only the first `len` of them count.
    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: [u8; N], len: usize) {
        let rest = self.to.get_mut(self.len..).unwrap_or_default();
        if let Some(place) = rest.first_chunk_mut() {
            *place = bytes;
        }
        self.len += len;
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) -> Done {
        self.put([byte], 1);
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if let Some(place) = self.to.get_mut(self.len..end) {
            place.copy_from_slice(bytes);
        }
        self.len = end;
    }

    /// Seven bits a byte, the lowest first; all but the last have the eighth bit set.
    #[inline(always)]
    fn number(&mut self, number: u64) -> Done {
        if number < 1 << 7 {
            self.put([number as u8], 1);
        } else if number < 1 << 21 {
            self.number_of_two_or_three_bytes(number as u32);
        } else {
            self.number_of_more_bytes(number);
        }
        Ok(())
    }

    /// Mostly the id of a node. Both lengths are common, so there is no branch on the length.
    #[inline(always)]
    fn number_of_two_or_three_bytes(&mut self, number: u32) {
        let third = u32::from(number >= 1 << 14);
        let bytes = (number & 0x7f) | (number & 0x3f80) << 1 | (number & 0x1f_c000) << 2;
        let not_last = 0x80 | third << 15;
        self.put((bytes | not_last).to_le_bytes(), 2 + third as usize);
    }

    /// Eight bytes at most, as a rule: times have seven.
    #[inline(never)]
    fn number_of_more_bytes(&mut self, number: u64) {
        if number >= 1 << 56 {
            return self.large_number(u128::from(number));
        }
        // Seven bits to a byte, by halves.
        let halves = (number & 0x0fff_ffff) | (number & 0x00ff_ffff_f000_0000) << 4;
        let quarters = (halves & 0x3fff_0000_3fff) | (halves & 0x0fff_c000_0fff_c000) << 2;
        let bytes = (quarters & 0x007f_007f_007f_007f) | (quarters & 0x3f80_3f80_3f80_3f80) << 1;
        let length = (u64::BITS - number.leading_zeros()).div_ceil(7).max(1);
        let not_last = ((1 << (8 * (length - 1))) - 1) & 0x8080_8080_8080_8080;
        self.put((bytes | not_last).to_le_bytes(), length as usize);
    }

    fn large_number(&mut self, mut number: u128) {
        while number >= 1 << 7 {
            self.put([number as u8 | 1 << 7], 1);
            number >>= 7;
        }
        self.put([number as u8], 1);
    }
}

/// Small numbers below zero are small, too.
const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

impl Serializer for &mut Encoder<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Done {
        self.serialize_u8(u8::from(value))
    }
    fn serialize_i8(self, value: i8) -> Done {
        self.serialize_u8(value as u8)
    }
    fn serialize_i16(self, value: i16) -> Done {
        self.number(zigzag(value.into()))
    }
    fn serialize_i32(self, value: i32) -> Done {
        self.number(zigzag(value.into()))
    }
    fn serialize_i64(self, value: i64) -> Done {
        self.number(zigzag(value))
    }
    fn serialize_i128(self, value: i128) -> Done {
        self.large_number(((value << 1) ^ (value >> 127)) as u128);
        Ok(())
    }
    #[inline]
    fn serialize_u8(self, value: u8) -> Done {
        self.byte(value)
    }
    #[inline]
    fn serialize_u16(self, value: u16) -> Done {
        self.number(value.into())
    }
    #[inline]
    fn serialize_u32(self, value: u32) -> Done {
        self.number(value.into())
    }
    #[inline]
    fn serialize_u64(self, value: u64) -> Done {
        self.number(value)
    }
    fn serialize_u128(self, value: u128) -> Done {
        self.large_number(value);
        Ok(())
    }
    fn serialize_f32(self, value: f32) -> Done {
        self.bytes(&value.to_bits().to_le_bytes());
        Ok(())
    }
    fn serialize_f64(self, value: f64) -> Done {
        self.bytes(&value.to_bits().to_le_bytes());
        Ok(())
    }
    fn serialize_char(self, value: char) -> Done {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, value: &str) -> Done {
        self.serialize_bytes(value.as_bytes())
    }
    fn serialize_bytes(self, value: &[u8]) -> Done {
        self.number(value.len() as u64)?;
        self.bytes(value);
        Ok(())
    }
    #[inline]
    fn serialize_none(self) -> Done {
        self.serialize_u8(0)
    }
    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        self.byte(1)?;
        value.serialize(self)
    }
    #[inline]
    fn serialize_unit(self) -> Done {
        Ok(())
    }
    #[inline]
    fn serialize_unit_struct(self, _: &'static str) -> Done {
        Ok(())
    }
    #[inline]
    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Done {
        self.number(index.into())
    }
    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }
    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        value: &T,
    ) -> Done {
        self.number(index.into())?;
        value.serialize(self)
    }
    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        let len = len.ok_or(Error::SerializeSeqLengthUnknown)?;
        self.number(len as u64)?;
        Ok(self)
    }
    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Error> {
        Ok(self)
    }
    #[inline]
    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Error> {
        Ok(self)
    }
    #[inline]
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        self.number(index.into())?;
        Ok(self)
    }
    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, Error> {
        self.serialize_seq(len)
    }
    #[inline]
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Error> {
        Ok(self)
    }
    #[inline]
    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        self.number(index.into())?;
        Ok(self)
    }
    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Done {
        self.serialize_str(&value.to_string())
    }
}

/// A value with parts is encoded as its parts, one after the other.
macro_rules! parts {
    ($($part:ident { $function:ident($($name:ident)?) })*) => {$(
        impl $part for &mut Encoder<'_> {
            type Ok = ();
            type Error = Error;
            #[inline]
            fn $function<T: Serialize + ?Sized>(&mut self, $($name: &'static str,)? value: &T) -> Done {
                value.serialize(&mut **self)
            }
            #[inline]
            fn end(self) -> Done {
                Ok(())
            }
        }
    )*};
}

parts! {
    SerializeSeq { serialize_element() }
    SerializeTuple { serialize_element() }
    SerializeTupleStruct { serialize_field() }
    SerializeTupleVariant { serialize_field() }
    SerializeStruct { serialize_field(_name) }
    SerializeStructVariant { serialize_field(_name) }
}

impl SerializeMap for &mut Encoder<'_> {
    type Ok = ();
    type Error = Error;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        key.serialize(&mut **self)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(&mut **self)
    }
    fn end(self) -> Done {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::net::Ipv6Addr;

    fn assert_postcard(value: &impl Serialize) {
        let expected = postcard::to_allocvec(value).unwrap();
        let mut bytes = vec![0; expected.len() + SPARE];
        assert_eq!(write(value, &mut bytes), expected.len());
        assert_eq!(bytes[..expected.len()], expected);
        // However little room there is, the length is right.
        for room in 0..expected.len() {
            assert_eq!(write(value, &mut bytes[..room]), expected.len());
        }
    }

    #[test]
    fn numbers_of_every_length_are_postcards() {
        for bit in 0..64 {
            for near in [-1, 0, 1] {
                let number = (1_u64 << bit).wrapping_add_signed(near);
                assert_postcard(&(number, number as u32, number as u16, number as u8));
                let signed = number as i64;
                assert_postcard(&(signed, signed as i32, signed as i16, signed as i8));
                assert_postcard(&(-signed.max(-i64::MAX), f64::from_bits(number)));
                assert_postcard(&(u128::from(number) << bit, i128::from(signed) << bit));
                assert_postcard(&f32::from_bits(number as u32));
            }
        }
    }

    #[derive(serde::Serialize)]
    struct Unit;
    #[derive(serde::Serialize)]
    struct New(u64);
    #[derive(serde::Serialize)]
    struct Pair(u64, bool);
    #[derive(serde::Serialize)]
    struct Named<'a> {
        text: &'a str,
        maybe: Option<char>,
    }
    #[derive(serde::Serialize)]
    enum Any<'a> {
        Unit,
        New(New),
        Pair(i32, Pair),
        Named { a: Named<'a>, b: Unit },
    }

    #[test]
    fn data_of_every_shape_is_postcards() {
        let named = |maybe| Named {
            text: "größer",
            maybe,
        };
        assert_postcard(&vec![
            Any::Unit,
            Any::New(New(300)),
            Any::Pair(-5, Pair(1 << 40, true)),
            Any::Named {
                a: named(Some('ß')),
                b: Unit,
            },
        ]);
        assert_postcard(&(named(None), (), [1_u16, 300], vec![(); 200]));
        assert_postcard(&BTreeMap::from([(1_u8, "one"), (2, "two")]));
        // An address is text for people, and bytes for machines.
        assert_postcard(&Ipv6Addr::LOCALHOST);
        assert_postcard(&format_args!("{}", 5));
    }
}
