//! Values of any type that serde can read, made at random until each variant of each enum in it was there.

use core::fmt::{self, Display};
use std::collections::BTreeSet;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, SeedableRng};
use serde::de::value::U32Deserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// A variant of an enum: their names.
pub type Shape = (&'static str, &'static str);

/// How many values are tried. Some are none, such as an interval that ends before it starts.
const TRIES: u32 = 50_000;

/// A few values that have all variants between them, and the variants that none of them has.
pub fn shapes<T: DeserializeOwned>() -> (Vec<T>, BTreeSet<Shape>) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut values, mut shown, mut offered) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for _ in 0..TRIES {
        let mut maker = Maker {
            rng: &mut rng,
            shown: &shown,
            offered: &mut offered,
            used: BTreeSet::new(),
        };
        let made = T::deserialize(&mut maker);
        let used = maker.used;
        if let Ok(value) = made
            && (values.is_empty() || !used.is_subset(&shown))
        {
            shown.extend(used);
            values.push(value);
        }
    }
    (values, &offered - &shown)
}

/// What cannot be made: no value has these parts, or serde asks for what bytes cannot say.
#[derive(Debug)]
struct Unfit;

impl Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no value has these parts")
    }
}

impl core::error::Error for Unfit {}

impl Error for Unfit {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

struct Maker<'a> {
    rng: &'a mut Xoshiro256PlusPlus,
    shown: &'a BTreeSet<Shape>,
    offered: &'a mut BTreeSet<Shape>,
    used: BTreeSet<Shape>,
}

impl Maker<'_> {
    fn below(&mut self, end: u64) -> u64 {
        self.rng.next_u64() % end
    }

    /// One byte or two, as they are written.
    fn number(&mut self) -> u64 {
        let bits = self.below(15);
        self.below(1 << bits)
    }
}

macro_rules! numbers {
    ($($read:ident $visit:ident $type:ty,)*) => {
        $(fn $read<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
            let most = <$type>::MAX as u64;
            visitor.$visit(self.number().min(most) as $type)
        })*
    };
}

macro_rules! unknown {
    ($($read:ident)*) => {
        $(fn $read<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unfit> {
            Err(Unfit)
        })*
    };
}

impl<'de> Deserializer<'de> for &mut Maker<'_> {
    type Error = Unfit;

    numbers! {
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
        deserialize_i8 visit_i8 i8,
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
    }

    unknown! {
        deserialize_any deserialize_f32 deserialize_f64 deserialize_char deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_bool(self.below(2) == 1)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        let letters = 1 + self.below(8);
        let text: String = (0..letters)
            .map(|_| char::from(b'a' + self.below(26) as u8))
            .collect();
        visitor.visit_str(&text)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        let bytes: Vec<u8> = (0..self.below(6)).map(|_| self.below(256) as u8).collect();
        visitor.visit_bytes(&bytes)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self.below(3) {
            0 => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        let left = self.below(4) as usize;
        visitor.visit_seq(Items { maker: self, left })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        visitor.visit_seq(Items { maker: self, left })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        visitor.visit_seq(Items { maker: self, left })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        let left = self.below(4) as usize;
        visitor.visit_map(Items { maker: self, left })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        let left = fields.len();
        visitor.visit_seq(Items { maker: self, left })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        self.offered
            .extend(variants.iter().map(|variant| (name, *variant)));
        let mut index = self.below(variants.len() as u64) as usize;
        let is_new = |index: &usize| !self.shown.contains(&(name, variants[*index]));
        let new: Vec<usize> = (0..variants.len()).filter(is_new).collect();
        if !new.is_empty() && self.below(2) == 0 {
            index = new[self.below(new.len() as u64) as usize];
        }
        self.used.insert((name, variants[index]));
        visitor.visit_enum(Chosen {
            maker: self,
            index: index as u32,
        })
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

struct Items<'a, 'b> {
    maker: &'a mut Maker<'b>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Items<'_, '_> {
    type Error = Unfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unfit> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        seed.deserialize(&mut *self.maker).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> MapAccess<'de> for Items<'_, '_> {
    type Error = Unfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unfit> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unfit> {
        seed.deserialize(&mut *self.maker)
    }
}

struct Chosen<'a, 'b> {
    maker: &'a mut Maker<'b>,
    index: u32,
}

impl<'de> EnumAccess<'de> for Chosen<'_, '_> {
    type Error = Unfit;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Unfit> {
        let index: U32Deserializer<Unfit> = self.index.into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> VariantAccess<'de> for Chosen<'_, '_> {
    type Error = Unfit;

    fn unit_variant(self) -> Result<(), Unfit> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Unfit> {
        seed.deserialize(self.maker)
    }

    fn tuple_variant<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, Unfit> {
        self.maker.deserialize_tuple(left, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        self.maker.deserialize_tuple(fields.len(), visitor)
    }
}
