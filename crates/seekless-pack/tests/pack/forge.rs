//! Archives that are put together byte by byte, right or wrong. The tests of other crates share it.

/// One entry as a forger writes it: every field free.
#[derive(Clone)]
pub(crate) struct Forged {
    pub(crate) name: Vec<u8>,
    pub(crate) local_name: Option<Vec<u8>>,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) local_method: Option<u16>,
    pub(crate) crc: u32,
    pub(crate) local_crc: Option<u32>,
    pub(crate) bytes: u32,
    pub(crate) coded_bytes: u32,
    pub(crate) local_sizes: Option<(u32, u32)>,
    pub(crate) data: Vec<u8>,
    pub(crate) local_extra: Vec<u8>,
    pub(crate) central_extra: Vec<u8>,
    pub(crate) comment: Vec<u8>,
    pub(crate) made_by: u16,
    pub(crate) attributes: u32,
    pub(crate) disk: u16,
    /// Follows the data: a descriptor, or a gap.
    pub(crate) behind: Vec<u8>,
    /// Where the directory says that the local header is.
    pub(crate) offset: Option<u32>,
}

impl Forged {
    /// A right one, stored.
    pub(crate) fn stored(name: &str, content: &[u8]) -> Self {
        Self {
            name: name.into(),
            local_name: None,
            flags: 0,
            method: 0,
            local_method: None,
            crc: crc32fast::hash(content),
            local_crc: None,
            bytes: content.len() as u32,
            coded_bytes: content.len() as u32,
            local_sizes: None,
            data: content.to_vec(),
            local_extra: Vec::new(),
            central_extra: Vec::new(),
            comment: Vec::new(),
            made_by: 20,
            attributes: 0,
            disk: 0,
            behind: Vec::new(),
            offset: None,
        }
    }

    fn local(&self, out: &mut Vec<u8>) {
        let name = self.local_name.as_ref().unwrap_or(&self.name);
        let (bytes, coded_bytes) = self.local_sizes.unwrap_or((self.bytes, self.coded_bytes));
        out.extend(0x0403_4b50u32.to_le_bytes());
        put16(out, &[20, self.flags, self.local_method.unwrap_or(self.method), 0, 0x21]);
        put32(out, &[self.local_crc.unwrap_or(self.crc), coded_bytes, bytes]);
        put16(out, &[name.len() as u16, self.local_extra.len() as u16]);
        out.extend(name);
        out.extend(&self.local_extra);
        out.extend(&self.data);
        out.extend(&self.behind);
    }

    fn central(&self, offset: u32, out: &mut Vec<u8>) {
        out.extend(0x0201_4b50u32.to_le_bytes());
        put16(out, &[self.made_by, 20, self.flags, self.method, 0, 0x21]);
        put32(out, &[self.crc, self.coded_bytes, self.bytes]);
        put16(
            out,
            &[
                self.name.len() as u16,
                self.central_extra.len() as u16,
                self.comment.len() as u16,
                self.disk,
                0,
            ],
        );
        put32(out, &[self.attributes, self.offset.unwrap_or(offset)]);
        out.extend(&self.name);
        out.extend(&self.central_extra);
        out.extend(&self.comment);
    }
}

/// A whole archive as a forger writes it.
#[derive(Clone, Default)]
pub(crate) struct Forgery {
    pub(crate) entries: Vec<Forged>,
    pub(crate) before: Vec<u8>,
    /// Between the directory and the end record: Zip64 records, if any.
    pub(crate) between: Vec<u8>,
    pub(crate) comment: Vec<u8>,
    pub(crate) behind: Vec<u8>,
    pub(crate) count: Option<u16>,
    pub(crate) disk: u16,
    pub(crate) directory_bytes: Option<u32>,
    pub(crate) directory_offset: Option<u32>,
}

impl Forgery {
    pub(crate) fn of(entries: impl Into<Vec<Forged>>) -> Self {
        Self { entries: entries.into(), ..Self::default() }
    }

    /// Offsets are those without `before`, as in an archive that something was put in front of.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        let mut directory = Vec::new();
        for entry in &self.entries {
            entry.central(body.len() as u32, &mut directory);
            entry.local(&mut body);
        }
        let offset = self.directory_offset.unwrap_or(body.len() as u32);
        let count = self.count.unwrap_or(self.entries.len() as u16);
        let mut out = self.before.clone();
        out.extend(body);
        out.extend(&directory);
        out.extend(&self.between);
        out.extend(0x0605_4b50u32.to_le_bytes());
        put16(&mut out, &[self.disk, self.disk, count, count]);
        put32(&mut out, &[self.directory_bytes.unwrap_or(directory.len() as u32), offset]);
        put16(&mut out, &[self.comment.len() as u16]);
        out.extend(&self.comment);
        out.extend(&self.behind);
        out
    }
}

pub(crate) fn put16(out: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
}

pub(crate) fn put32(out: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
}

pub(crate) fn put64(out: &mut Vec<u8>, values: &[u64]) {
    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
}
