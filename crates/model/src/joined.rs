//! Lists of constants, put together while the program is compiled.

/// The `N` values of these lists, one after the other; the first list has some.
pub const fn joined<T: Copy, const N: usize>(lists: &[&[T]]) -> [T; N] {
    let mut all = [lists[0][0]; N];
    let (mut at, mut list) = (0, 0);
    while list < lists.len() {
        let mut next = 0;
        while next < lists[list].len() {
            all[at] = lists[list][next];
            at += 1;
            next += 1;
        }
        list += 1;
    }
    all
}
