//! Bit fields that are not aligned to octets, as in RLC and MAC headers. The first bit of a field
//! is the most significant one.

/// Reads fields one after another.
#[derive(Debug, Clone)]
pub(in crate::radio) struct BitReader<'a> {
    octets: &'a [u8],
    /// Number of bits read.
    at: usize,
}

impl<'a> BitReader<'a> {
    pub fn new(octets: &'a [u8]) -> Self {
        BitReader { octets, at: 0 }
    }

    /// Number of bits read.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Number of bits left.
    pub fn left(&self) -> usize {
        self.octets.len() * 8 - self.at
    }

    /// Reads the next `width` bits, at most 32. If fewer are left, returns `None` and reads
    /// nothing.
    pub fn take(&mut self, width: u32) -> Option<u32> {
        debug_assert!(width <= 32);
        if self.left() < width as usize {
            return None;
        }
        let mut value = 0;
        let mut left = width;
        while left > 0 {
            let unread = 8 - (self.at % 8) as u32;
            let now = left.min(unread);
            let bits = u32::from(self.octets[self.at / 8]) >> (unread - now) & ((1 << now) - 1);
            value = value << now | bits;
            self.at += now as usize;
            left -= now;
        }
        Some(value)
    }
}

/// Appends fields one after another.
#[derive(Debug)]
pub(in crate::radio) struct BitWriter<'a> {
    octets: &'a mut Vec<u8>,
    /// Unwritten bits of the last octet, which are zero.
    free: u32,
}

impl<'a> BitWriter<'a> {
    /// Starts with a new octet at the end of `octets`.
    pub fn new(octets: &'a mut Vec<u8>) -> Self {
        BitWriter { octets, free: 0 }
    }

    /// Appends the low `width` bits of `value`.
    ///
    /// # Panics
    /// Panics if `value` has more bits. Callers check the values of their fields.
    pub fn put(&mut self, value: u32, width: u32) -> &mut Self {
        assert!(u64::from(value) < 1 << width, "{value} has more than {width} bits");
        let mut left = width;
        while left > 0 {
            if self.free == 0 {
                self.octets.push(0);
                self.free = 8;
            }
            let now = left.min(self.free);
            left -= now;
            self.free -= now;
            let bits = value >> left & ((1 << now) - 1);
            let last = self.octets.last_mut().expect("an octet was begun");
            *last |= (bits as u8) << self.free;
        }
        self
    }

    /// Unwritten bits of the last octet, which are zero.
    pub fn free(&self) -> u32 {
        self.free
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn written_fields_are_read_back(fields in proptest::collection::vec((any::<u32>(), 0u32..=32), 0..40)) {
            let low = |value: u32, width: u32| (u64::from(value) & ((1 << width) - 1)) as u32;
            let mut octets = vec![0xff];
            let mut writer = BitWriter::new(&mut octets);
            for &(value, width) in &fields {
                writer.put(low(value, width), width);
            }
            let (free, bits) = (writer.free(), fields.iter().map(|field| field.1 as usize).sum::<usize>());
            prop_assert_eq!(octets.len(), 1 + bits.div_ceil(8));
            let mut reader = BitReader::new(&octets[1..]);
            for &(value, width) in &fields {
                prop_assert_eq!(reader.take(width), Some(low(value, width)));
            }
            prop_assert_eq!((reader.at(), reader.left()), (bits, free as usize));
            prop_assert_eq!(reader.take(free), Some(0));
            prop_assert_eq!(reader.take(1), None);
        }
    }
}
