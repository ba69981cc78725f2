//! The operations of a pass over memory, and the kinds of kernels that carry them out.

/// The factor of `scale` and `triad`.
pub const FACTOR: f64 = 3.0;
/// The value that `write` and `fwrite` store.
pub const WRITTEN: u64 = 0x3ff0_0000_0000_0001;
/// Kernels work on blocks of this many words (512 bytes); slices must be whole blocks.
pub const BLOCK: usize = 64;

/// The operation of one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Read,
    Write,
    ReadWrite,
    Copy,
    FullRead,
    FullWrite,
    FullCopy,
    StreamCopy,
    Scale,
    Add,
    Triad,
}

/// How results are written: through the caches, or around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    Temporal,
    Streaming,
}

/// The instructions that a kernel uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    Scalar,
    Portable,
    Sse2,
    Avx2,
    Avx512,
    /// AVX2, four pages side by side.
    Avx2Pages,
}

/// One pass: writes `dst` from `a` and `b`; the result keeps the work from being optimised away.
/// All slices that the operation uses have one length, a multiple of [`BLOCK`].
pub type Kernel = fn(dst: &mut [u64], a: &[u64], b: &[u64]) -> u64;

impl Op {
    pub const ALL: [Op; 11] = [
        Op::Read,
        Op::Write,
        Op::ReadWrite,
        Op::Copy,
        Op::FullRead,
        Op::FullWrite,
        Op::FullCopy,
        Op::StreamCopy,
        Op::Scale,
        Op::Add,
        Op::Triad,
    ];

    /// Number of arrays that are read, without the one that is written.
    pub const fn sources(self) -> usize {
        match self {
            Op::Write | Op::ReadWrite | Op::FullWrite => 0,
            Op::Read | Op::FullRead | Op::Copy | Op::FullCopy | Op::StreamCopy | Op::Scale => 1,
            Op::Add | Op::Triad => 2,
        }
    }

    pub const fn writes(self) -> bool {
        !matches!(self, Op::Read | Op::FullRead)
    }

    /// Arrays that the definition counts: bw_mem's buffer once, STREAM's words moved.
    pub const fn counted(self) -> usize {
        match self {
            Op::StreamCopy | Op::Scale => 2,
            Op::Add | Op::Triad => 3,
            _ => 1,
        }
    }

    /// True when only the first 4 of every 16 bytes are touched.
    pub const fn strided(self) -> bool {
        matches!(self, Op::Read | Op::Write | Op::ReadWrite | Op::Copy)
    }
}

impl Isa {
    pub const fn name(self) -> &'static str {
        match self {
            Isa::Scalar => "scalar",
            Isa::Portable => "compiled for the baseline",
            Isa::Sse2 => "SSE2",
            Isa::Avx2 => "AVX2",
            Isa::Avx512 => "AVX-512",
            Isa::Avx2Pages => "AVX2 (four pages at a time)",
        }
    }
}
