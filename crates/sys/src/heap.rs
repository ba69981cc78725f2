//! Memory that the program freed and its allocator keeps.
//!
//! Only glibc's allocator is asked: it keeps what threads freed in areas of theirs, which no other thread uses, and the
//! more large blocks it has seen, the larger are those that it keeps. A program with another allocator is left as it
//! is.

/// From this size on a block is mapped on its own, and goes back when it is freed; and as much may be free at the end
/// of the heap. Both are where glibc starts; it raises them with the blocks that it sees.
#[cfg(target_env = "gnu")]
const KEPT: libc::c_int = 128 << 10;

/// Threads that start from now on allocate in the area that is there, and get none of their own; glibc heeds it while
/// there are few areas. They wait for each other then, so it is for many threads that allocate little: with areas of
/// their own, what they freed lies in all of them. Not for where time is measured.
pub fn use_one_area() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes two numbers, and the allocator's own locks.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Keeps little of what is freed, from now on: a large block costs system calls and new pages each time. Not for where
/// time is measured.
pub fn keep_little() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes two numbers, and the allocator's own locks.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
    give_back();
}

/// Gives freed memory back to the system, as far as whole pages of it are free.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: it takes a number, and the allocator's own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}
