//! Page-aligned, zeroed memory from the kernel, with a choice of page size and NUMA node.
//!
//! Sizes are bytes. The memory is anonymous and private. Without [`Pages::touch`] the kernel gives pages on first use,
//! which then counts into whatever is timed. `Huge` is a request: the kernel may still use small pages
//! ([`Pages::huge_bytes`] tells). The `Hugetlb` sizes are guaranteed.

use crate::error::{Error, Result, check, check_long};
use std::ptr::NonNull;

const MIB2: usize = 2 << 20;
/// Unused addresses behind each buffer. The kernel puts mappings right beside each other, and equal buffers whose size
/// is a power of two then differ in few bits of their addresses: streams through several of them take each other's
/// places in caches and banks of memory, and can be half as fast.
const GAP: usize = 1 << 20;

/// Flags of mbind(2): fail if a page is elsewhere and cannot be moved; move what is.
const MPOL_MF_STRICT: libc::c_ulong = 1;
const MPOL_MF_MOVE: libc::c_ulong = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// The system's setting.
    Default,
    /// Transparent huge pages requested (MADV_HUGEPAGE), start aligned to 2 MiB.
    Huge,
    /// Transparent huge pages refused (MADV_NOHUGEPAGE).
    NoHuge,
    /// From the reserved pool of 2 MiB pages; fails if the pool is too small.
    Hugetlb2M,
    /// From the reserved pool of 1 GiB pages; fails if the pool is too small.
    Hugetlb1G,
}

impl Advice {
    fn alignment(self) -> usize {
        match self {
            Self::Default | Self::NoHuge => page_size(),
            Self::Huge | Self::Hugetlb2M => MIB2,
            Self::Hugetlb1G => 1 << 30,
        }
    }

    /// Extra mmap flags; log2 of the page size sits at MAP_HUGE_SHIFT (26).
    fn flags(self) -> libc::c_int {
        match self {
            Self::Default | Self::Huge | Self::NoHuge => 0,
            Self::Hugetlb2M => libc::MAP_HUGETLB | 21 << 26,
            Self::Hugetlb1G => libc::MAP_HUGETLB | 30 << 26,
        }
    }
}

/// The size of an ordinary page.
pub fn page_size() -> usize {
    // SAFETY: sysconf takes no pointer.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    // POSIX guarantees an answer; 4096 is the smallest page of the supported processors.
    usize::try_from(size).unwrap_or(4096).max(4096)
}

mod sealed {
    /// Types for which every bit pattern is a value, and which have no padding.
    pub trait Plain: Copy {}
    impl Plain for u8 {}
    impl Plain for u16 {}
    impl Plain for u32 {}
    impl Plain for u64 {}
    impl Plain for i32 {}
    impl Plain for i64 {}
    impl Plain for f32 {}
    impl Plain for f64 {}
}
/// Element types that [`Pages`] can be viewed as.
pub use sealed::Plain;

#[derive(Debug)]
pub struct Pages {
    /// Start of the whole mapping and its length with the gap behind it, for munmap.
    map: NonNull<libc::c_void>,
    map_len: usize,
    /// First aligned byte of the mapping, and the number of bytes asked for.
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping is owned by this value alone, and access follows & and &mut.
unsafe impl Send for Pages {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least `bytes` zeroed bytes, not yet touched. Fails when there is not enough memory, or no reserved huge
    /// page.
    pub fn new(bytes: usize, advice: Advice) -> Result<Self> {
        let what = || format!("map {bytes} bytes of memory ({advice:?})");
        if bytes == 0 {
            return Err(Error::invalid(what(), "no bytes"));
        }
        let align = advice.alignment();
        let hugetlb = advice.flags() != 0;
        // A hugetlb mapping is whole pages and comes aligned; others get room to align in, and the gap.
        let map_len = bytes
            .checked_next_multiple_of(align)
            .and_then(|len| len.checked_add(if hugetlb { 0 } else { align - page_size() + GAP }))
            .filter(|len| isize::try_from(*len).is_ok())
            .ok_or_else(|| Error::invalid(what(), "more than the address space"))?;
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches nothing.
        let map = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                map_len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | advice.flags(),
                -1,
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(Error::last(what()));
        }
        let map = NonNull::new(map).ok_or_else(|| Error::invalid(what(), "mapped at 0"))?;
        let skip = map.as_ptr().cast::<u8>().align_offset(align);
        // SAFETY: `skip` < align, and the mapping is longer than `bytes` by align - page size
        // where it is not aligned already; a mapping starts at a page.
        let start = unsafe { map.cast::<u8>().add(skip) };
        let pages = Self { map, map_len, start, len: bytes };
        match advice {
            Advice::Huge => pages.advise(libc::MADV_HUGEPAGE, "ask for huge pages")?,
            Advice::NoHuge => pages.advise(libc::MADV_NOHUGEPAGE, "refuse huge pages")?,
            Advice::Default | Advice::Hugetlb2M | Advice::Hugetlb1G => {}
        }
        Ok(pages)
    }

    fn advise(&self, advice: libc::c_int, what: &str) -> Result<()> {
        // SAFETY: the range is our own mapping; these advices keep its content.
        let ret = unsafe { libc::madvise(self.map.as_ptr(), self.map_len, advice) };
        check(ret, || what.to_owned())?;
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address, for alignment checks and memory maps.
    pub fn address(&self) -> usize {
        self.start.as_ptr() as usize
    }

    /// As many whole `T` as fit.
    pub fn as_slice<T: Plain>(&self) -> &[T] {
        // SAFETY: start is page aligned, the range is mapped and zeroed by the kernel, any bits
        // are a valid `Plain`, and the borrow of self keeps writers away.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.len / size_of::<T>()) }
    }

    /// As many whole `T` as fit.
    pub fn as_mut_slice<T: Plain>(&mut self) -> &mut [T] {
        // SAFETY: as in `as_slice`, and `&mut self` makes the access unique.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len / size_of::<T>()) }
    }

    /// Gives every page its memory now; the content stays.
    pub fn touch(&mut self) {
        let step = page_size();
        for byte in self.as_mut_slice::<u8>().iter_mut().step_by(step) {
            let byte: *mut u8 = byte;
            // SAFETY: a valid, exclusive pointer; volatile so that the write is really done.
            unsafe { byte.write_volatile(byte.read_volatile()) };
        }
    }

    /// Makes the kernel take the memory from NUMA node `node` only; call it before touching. Fails when the node does
    /// not exist.
    pub fn bind_node(&mut self, node: usize) -> Result<()> {
        let what = || format!("bind memory to NUMA node {node}");
        let bits = libc::c_ulong::BITS as usize;
        if node >= 1024 {
            return Err(Error::invalid(what(), "Linux has at most 1024 nodes"));
        }
        let mut mask: Vec<libc::c_ulong> = vec![0; 1024 / bits];
        mask[node / bits] = 1 << (node % bits);
        // SAFETY: the range is our own mapping; the kernel reads maxnode bits of `mask`.
        let ret = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                self.map.as_ptr(),
                self.map_len,
                libc::MPOL_BIND as libc::c_ulong,
                mask.as_ptr(),
                // The kernel takes one less than this many bits.
                1024 as libc::c_ulong,
                MPOL_MF_STRICT | MPOL_MF_MOVE,
            )
        };
        check_long(ret, what)?;
        Ok(())
    }

    /// Keeps the memory from being swapped until it is dropped. Fails when the memlock limit is too low.
    pub fn lock(&mut self) -> Result<()> {
        // SAFETY: the range is our own mapping.
        let ret = unsafe { libc::mlock(self.start.as_ptr().cast(), self.len) };
        check(ret, || format!("lock {} bytes in memory", self.len))?;
        Ok(())
    }

    /// Bytes now in transparent or hugetlb pages, of the kernel's memory areas that hold this buffer (a neighbouring
    /// mapping with equal settings may share its area). Fails when /proc/self/smaps cannot be read.
    pub fn huge_bytes(&self) -> Result<u64> {
        let path = "/proc/self/smaps";
        let text = std::fs::read_to_string(path).map_err(|e| Error::os(format!("read {path}"), e))?;
        let start = self.address() as u64;
        Ok(huge_in(&text, start, start + self.len as u64))
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: exactly the range that mmap gave; nothing borrows it any more. It cannot fail
        // for a whole mapping, and a drop has nobody to tell.
        unsafe { libc::munmap(self.map.as_ptr(), self.map_len) };
    }
}

fn area(line: &str) -> Option<(u64, u64)> {
    let (from, to) = line.split_once(' ')?.0.split_once('-')?;
    Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?))
}

fn huge_in(smaps: &str, start: u64, end: u64) -> u64 {
    let mut inside = false;
    let mut kib = 0u64;
    for line in smaps.lines() {
        if let Some((from, to)) = area(line) {
            inside = from < end && start < to;
            continue;
        }
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let counted = matches!(name, "AnonHugePages" | "Private_Hugetlb" | "Shared_Hugetlb");
        let value = value.trim().strip_suffix(" kB").and_then(|v| v.parse::<u64>().ok());
        if let (true, true, Some(value)) = (inside, counted, value) {
            kib = kib.saturating_add(value);
        }
    }
    kib.saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_zeroed_aligned_and_writable() {
        for advice in [Advice::Default, Advice::Huge, Advice::NoHuge] {
            let mut pages = Pages::new(5_000_003, advice).unwrap();
            assert_eq!(pages.len(), 5_000_003);
            assert_eq!(pages.address() % advice.alignment(), 0);
            assert!(pages.as_slice::<u8>().iter().all(|&b| b == 0));
            pages.as_mut_slice::<u64>().fill(7);
            pages.touch();
            assert!(pages.as_slice::<u64>().iter().all(|&w| w == 7));
            assert_eq!(pages.as_slice::<f64>().len(), 5_000_003 / 8);
            assert!(pages.huge_bytes().is_ok());
        }
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(Pages::new(0, Advice::Default).is_err());
        assert!(Pages::new(usize::MAX, Advice::Huge).is_err());
        assert!(Pages::new(isize::MAX as usize, Advice::Default).is_err());
    }

    #[test]
    fn hugetlb_works_or_says_why() {
        match Pages::new(MIB2, Advice::Hugetlb2M) {
            Ok(pages) => assert_eq!(pages.address() % MIB2, 0),
            Err(error) => assert!(error.errno().is_some(), "{error}"),
        }
    }

    #[test]
    fn a_node_that_is_not_there_is_an_error() {
        let mut pages = Pages::new(4096, Advice::Default).unwrap();
        assert!(pages.bind_node(1000).is_err());
        assert!(pages.bind_node(5000).is_err());
    }

    #[test]
    fn counts_huge_pages_of_the_right_area() {
        let text = "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n\
            Size:               4096 kB\nAnonHugePages:      2048 kB\nVmFlags: rd wr\n\
            7f0000400000-7f0000800000 rw-p 00000000 00:00 0 \n\
            AnonHugePages:      4096 kB\nPrivate_Hugetlb: x kB\n";
        assert_eq!(huge_in(text, 0x7f00_0000_1000, 0x7f00_0000_2000), 2 << 20);
        assert_eq!(huge_in(text, 0x7f00_0000_1000, 0x7f00_0040_0001), 6 << 20);
        assert_eq!(huge_in(text, 0, 1), 0);
    }
}
