//! Memory for vectors and matrices: an error where it is short. A matrix is a vector of rows: LU exchanges rows.

pub type Matrix = Vec<Vec<f64>>;

pub fn vector<T: Clone>(count: usize, value: T) -> Result<Vec<T>, String> {
    let mut vector = Vec::new();
    vector
        .try_reserve_exact(count)
        .map_err(|_| format!("out of memory: {count} elements of {} bytes", std::mem::size_of::<T>()))?;
    vector.resize(count, value);
    Ok(vector)
}

pub fn matrix(rows: usize, columns: usize) -> Result<Matrix, String> {
    (0..rows).map(|_| vector(columns, 0.0)).collect()
}
