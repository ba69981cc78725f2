//! Work that is done for many lines at a time, compiled also for what processors since 2013 and since 2017 can do.
//!
//! The result is the same either way.

/// Does the work; all that is compiled into it makes use of AVX-512 or of AVX2, of BMI and of the counting of bits
/// where there are any.
#[inline(always)]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "the processor's features are asked at run time")
)]
pub fn fastest<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
    {
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
        {
            // SAFETY: the features were just found.
            return unsafe { wide_vectors(work) };
        }
        // SAFETY: the features were just found.
        return unsafe { vectors(work) };
    }
    work()
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn vectors<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
fn wide_vectors<R>(work: impl FnOnce() -> R) -> R {
    work()
}
