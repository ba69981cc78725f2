//! The CPUs that the calling thread may use, and pinning it to one of them.
//!
//! CPU numbers are the kernel's. Cores, sockets and hyper-threads are not known here (see the inventory), and a cgroup
//! quota is not an affinity (see the cgroup files).

use crate::error::{Error, Result, check_long};
use std::marker::PhantomData;

const BITS: usize = libc::c_ulong::BITS as usize;
/// 8 KiB of mask: 65,536 CPUs, eight times what Linux can be built for.
const MAX_WORDS: usize = 65_536 / BITS;

fn cpus_of(mask: &[libc::c_ulong]) -> Vec<usize> {
    let bits = |(index, word): (usize, &libc::c_ulong)| {
        let word = *word;
        (0..BITS).filter(move |bit| word >> bit & 1 == 1).map(move |bit| index * BITS + bit)
    };
    mask.iter().enumerate().flat_map(bits).collect()
}

fn mask_of(cpus: &[usize]) -> Result<Vec<libc::c_ulong>> {
    let what = "set the CPU affinity";
    let Some(&last) = cpus.iter().max() else {
        return Err(Error::invalid(what, "no CPU was named"));
    };
    if last >= MAX_WORDS * BITS {
        return Err(Error::invalid(what, format!("there is no CPU {last}")));
    }
    let mut mask = vec![0; last / BITS + 1];
    for cpu in cpus {
        mask[cpu / BITS] |= 1 << (cpu % BITS);
    }
    Ok(mask)
}

/// The CPUs that the calling thread may run on, ascending; inherited from taskset and cpusets. Fails when the kernel
/// refuses.
pub fn allowed() -> Result<Vec<usize>> {
    let mut words = 1024 / BITS;
    loop {
        let mut mask: Vec<libc::c_ulong> = vec![0; words];
        // The bare system call: the C library's set has room for 1024 CPUs only.
        // SAFETY: the kernel writes at most the given number of bytes into `mask`.
        let got = unsafe {
            libc::syscall(
                libc::SYS_sched_getaffinity,
                0,
                std::mem::size_of_val(mask.as_slice()),
                mask.as_mut_ptr(),
            )
        };
        if got >= 0 {
            return Ok(cpus_of(&mask));
        }
        let error = Error::last("read the CPU affinity");
        // EINVAL: the kernel's mask is wider than ours.
        if error.errno() != Some(libc::EINVAL) || words >= MAX_WORDS {
            return Err(error);
        }
        words *= 2;
    }
}

/// Sets the CPUs of the calling thread and of threads that it starts later. Fails when none of them is allowed.
pub fn set_allowed(cpus: &[usize]) -> Result<()> {
    let mask = mask_of(cpus)?;
    // SAFETY: the kernel only reads the given number of bytes of `mask`.
    let ret = unsafe {
        libc::syscall(libc::SYS_sched_setaffinity, 0, std::mem::size_of_val(mask.as_slice()), mask.as_ptr())
    };
    check_long(ret, || format!("pin to CPUs {cpus:?}"))?;
    Ok(())
}

/// Keeps the calling thread on one CPU; dropping it restores the former CPUs.
#[derive(Debug)]
pub struct Pinned {
    cpu: usize,
    former: Vec<usize>,
    /// Affinity belongs to a thread, so the guard must not leave it.
    not_send: PhantomData<*const ()>,
}

impl Pinned {
    pub fn cpu(&self) -> usize {
        self.cpu
    }

    /// Restores the former CPUs, as dropping does. Fails when the kernel refuses.
    pub fn restore(mut self) -> Result<()> {
        let former = std::mem::take(&mut self.former);
        set_allowed(&former)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if !self.former.is_empty() {
            // It can fail only if all former CPUs went offline or left the cpuset meanwhile; the
            // kernel then has chosen CPUs itself, and a drop has nobody to tell.
            let _gone = set_allowed(&self.former);
        }
    }
}

/// Pins the calling thread to `cpu`. Fails when that CPU does not exist or is not allowed.
pub fn pin(cpu: usize) -> Result<Pinned> {
    let former = allowed()?;
    set_allowed(&[cpu])?;
    Ok(Pinned { cpu, former, not_send: PhantomData })
}

/// The CPU and NUMA node on which the calling thread runs now. Fails when the kernel does not tell.
pub fn current_cpu() -> Result<(usize, usize)> {
    let (mut cpu, mut node): (libc::c_uint, libc::c_uint) = (0, 0);
    // SAFETY: both pointers are to writable unsigned ints; the third argument is unused.
    let ret = unsafe {
        libc::syscall(libc::SYS_getcpu, &raw mut cpu, &raw mut node, std::ptr::null_mut::<libc::c_void>())
    };
    check_long(ret, || "read the current CPU".into())?;
    Ok((cpu as usize, node as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn mask_and_list_are_inverse(set in proptest::collection::btree_set(0usize..5000, 1..50)) {
            let cpus: Vec<usize> = set.into_iter().collect();
            prop_assert_eq!(cpus_of(&mask_of(&cpus).unwrap()), cpus);
        }
    }

    #[test]
    fn pins_and_restores() {
        let before = allowed().unwrap();
        assert!(!before.is_empty());
        let last = *before.last().unwrap();
        let guard = pin(last).unwrap();
        assert_eq!(guard.cpu(), last);
        assert_eq!(allowed().unwrap(), vec![last]);
        assert_eq!(current_cpu().unwrap().0, last);
        drop(guard);
        assert_eq!(allowed().unwrap(), before);
        pin(last).unwrap().restore().unwrap();
        assert_eq!(allowed().unwrap(), before);
    }

    #[test]
    fn refuses_what_is_not_there() {
        assert!(pin(60_000).is_err());
        assert!(pin(usize::MAX).is_err());
        assert!(set_allowed(&[]).is_err());
    }
}
