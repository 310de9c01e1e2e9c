//! Reads and writes bit fields that are not aligned to octets, as in RLC and MAC headers. The first
//! bit of a field is its most significant one, and the first bit of an octet is bit 7.

/// Reads fields one after another.
#[derive(Debug, Clone)]
pub(crate) struct BitReader<'a> {
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
        let mut bits_left = width;
        while bits_left > 0 {
            let unread_in_octet = 8 - (self.at % 8) as u32;
            let part_width = bits_left.min(unread_in_octet);
            let octet = u32::from(self.octets[self.at / 8]);
            let part = octet >> (unread_in_octet - part_width) & ((1 << part_width) - 1);
            value = value << part_width | part;
            self.at += part_width as usize;
            bits_left -= part_width;
        }
        Some(value)
    }

    /// Reads the next `bits` bits. The last octet is padded with zeros. If fewer are left, returns
    /// `None` and reads nothing.
    pub fn take_octets(&mut self, bits: usize) -> Option<Vec<u8>> {
        if self.left() < bits {
            return None;
        }
        let mut octets = Vec::with_capacity(bits.div_ceil(8));
        let mut bits_left = bits;
        while bits_left > 0 {
            let width = bits_left.min(8) as u32;
            octets.push((self.take(width)? << (8 - width)) as u8);
            bits_left -= width as usize;
        }
        Some(octets)
    }

    /// Skips to the next octet.
    pub fn align(&mut self) {
        self.at = self.at.next_multiple_of(8);
    }
}

/// Appends fields one after another.
#[derive(Debug)]
pub(crate) struct BitWriter<'a> {
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
        let mut bits_left = width;
        while bits_left > 0 {
            if self.free == 0 {
                self.octets.push(0);
                self.free = 8;
            }
            let part_width = bits_left.min(self.free);
            bits_left -= part_width;
            self.free -= part_width;
            let part = value >> bits_left & ((1 << part_width) - 1);
            let last = self.octets.last_mut().expect("an octet was begun");
            *last |= (part as u8) << self.free;
        }
        self
    }

    /// Appends the first `bits` bits of `octets`.
    ///
    /// # Panics
    /// Panics if `octets` has fewer bits.
    pub fn put_octets(&mut self, octets: &[u8], bits: usize) -> &mut Self {
        for (octet, first_bit) in octets[..bits.div_ceil(8)].iter().zip((0..bits).step_by(8)) {
            let width = (bits - first_bit).min(8) as u32;
            self.put(u32::from(*octet) >> (8 - width), width);
        }
        self
    }

    /// Fills the last octet with zeros.
    pub fn align(&mut self) -> &mut Self {
        self.free = 0;
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
        /// Fields of any widths in bits are written after an octet that must stay unchanged, and read
        /// back. The rest of the last octet is zero.
        #[test]
        fn written_fields_are_read_back(fields in proptest::collection::vec((any::<u32>(), 0u32..=32), 0..40)) {
            let low_bits = |value: u32, width: u32| (u64::from(value) & ((1 << width) - 1)) as u32;
            let mut octets = vec![0xff];
            let mut writer = BitWriter::new(&mut octets);
            for &(value, width) in &fields {
                writer.put(low_bits(value, width), width);
            }
            let free = writer.free();
            let bits: usize = fields.iter().map(|&(_, width)| width as usize).sum();
            prop_assert_eq!(octets.len(), 1 + bits.div_ceil(8));
            let mut reader = BitReader::new(&octets[1..]);
            for &(value, width) in &fields {
                prop_assert_eq!(reader.take(width), Some(low_bits(value, width)));
            }
            prop_assert_eq!((reader.at(), reader.left()), (bits, free as usize));
            prop_assert_eq!(reader.take(free), Some(0));
            prop_assert_eq!(reader.take(1), None);
        }
    }
}
