//! The crate against an independent source: results of SciPy, and of plain counting in Python.
//!
//! `fixtures/scipy.json` is written by `fixtures/generate.py`, which says the command.

use serde_json::Value;
use stats::*;

fn cases(key: &str) -> Vec<Value> {
    let document: Value =
        serde_json::from_str(include_str!("../fixtures/scipy.json")).expect("valid fixture");
    let list = document[key].as_array().cloned().unwrap_or_default();
    assert!(!list.is_empty(), "no cases of {key}");
    list
}

fn number(v: &Value) -> f64 {
    v.as_f64().expect("a number")
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().expect("a list").iter().map(number).collect()
}

#[track_caller]
fn close(got: f64, want: f64, relative: f64) {
    assert!((got - want).abs() <= relative * want.abs().max(1e-12), "got {got}, want {want}");
}

#[test]
fn signed_rank_exact() {
    for c in cases("wilcoxon_exact") {
        close(signed_rank(&numbers(&c["d"])).expect("fit").p, number(&c["p"]), 1e-9);
    }
}

#[test]
fn signed_rank_with_ties_and_zeros() {
    for c in cases("wilcoxon_tied") {
        let got = signed_rank(&numbers(&c["d"])).expect("fit");
        close(got.p, number(&c["p"]), 1e-12);
        close(got.w_plus, number(&c["w_plus"]), 1e-12);
    }
}

#[test]
fn signed_rank_of_many_values() {
    for c in cases("wilcoxon_normal") {
        close(signed_rank(&numbers(&c["d"])).expect("fit").p, number(&c["p"]), 1e-6);
    }
}

#[test]
fn hodges_lehmann_with_interval() {
    for c in cases("walsh_levels") {
        let got = paired(&numbers(&c["d"]), 1).expect("fit");
        let i = got.interval.expect("enough");
        close(got.estimate, number(&c["estimate"]), 1e-12);
        close(i.low, number(&c["low"]), 1e-12);
        close(i.high, number(&c["high"]), 1e-12);
        close(i.level, number(&c["level"]), 1e-12);
    }
}

#[test]
fn mean_with_t_interval() {
    for c in cases("t_intervals") {
        let got = summary(&numbers(&c["x"])).expect("fit");
        let i = got.mean_interval.expect("two or more");
        close(got.mean, number(&c["mean"]), 1e-12);
        close(i.low, number(&c["low"]), 1e-8);
        close(i.high, number(&c["high"]), 1e-8);
    }
}

#[test]
fn student_and_normal_distribution() {
    for c in cases("t_distribution") {
        let (dof, q) = (number(&c["dof"]), number(&c["quantile"]));
        close(student_quantile(number(&c["p"]), dof), q, 1e-8);
        close(distributions::student_p(q, dof), number(&c["two_sided"]), 1e-8);
        close(student_cdf(q, dof), number(&c["p"]), 1e-9);
    }
    for c in cases("normal_distribution") {
        let (p, z) = (number(&c["p"]), number(&c["z"]));
        assert!((normal_quantile(p) - z).abs() < 1e-9);
        close(normal_cdf(z), p, 1e-9);
    }
}

#[test]
fn median_order_statistics() {
    for c in cases("median_levels") {
        let n = number(&c["n"]) as usize;
        match (summary::median_ranks(n), c["k"].as_u64()) {
            (None, None) => {}
            (Some((k, level)), Some(want)) => {
                assert_eq!(k as u64, want, "n {n}");
                close(level, number(&c["level"]), 1e-7);
            }
            other => panic!("n {n}: {other:?}"),
        }
    }
}

#[test]
fn spearman_correlation() {
    for c in cases("spearman") {
        let got = spearman(&numbers(&c["x"]), &numbers(&c["y"])).expect("fit");
        close(got.rho, number(&c["rho"]), 1e-9);
        close(got.p, number(&c["p"]), 1e-8);
    }
}

#[test]
fn bca_bootstrap() {
    for c in cases("bootstrap") {
        let x = numbers(&c["x"]);
        let statistic = if c["statistic"] == "mean" { mean } else { median };
        let got = bca(&x, statistic, 20_000, &mut Rng::new(1)).expect("fit");
        let (low, high) = (number(&c["low"]), number(&c["high"]));
        // Both are random; a twelfth of the width is several times their scatter.
        let near = (high - low) / 12.0;
        assert!((got.interval.low - low).abs() < near, "{c}: {got:?}");
        assert!((got.interval.high - high).abs() < near, "{c}: {got:?}");
        close(got.se, number(&c["se"]), 0.05);
    }
}

#[test]
fn holm_correction() {
    for c in cases("holm") {
        let p: Vec<Option<f64>> = numbers(&c["p"]).into_iter().map(Some).collect();
        for (got, want) in holm(&p).into_iter().zip(numbers(&c["adjusted"])) {
            close(got.expect("usable p"), want, 1e-12);
        }
    }
}

#[test]
fn kolmogorov_smirnov() {
    for c in cases("ks") {
        close(ks_distance(&numbers(&c["a"]), &numbers(&c["b"])).expect("fit"), number(&c["d"]), 1e-12);
    }
}

#[test]
fn quantiles_and_geometric_mean() {
    for c in cases("quantiles") {
        let x = numbers(&c["x"]);
        for at in c["at"].as_array().expect("a list") {
            close(quantile(&x, number(&at["q"])).expect("fit"), number(&at["value"]), 1e-12);
        }
        let positive: Vec<f64> = x.iter().map(|v| v.exp()).collect();
        close(geometric_mean(&positive).expect("positive"), number(&c["gmean"]), 1e-12);
    }
}

#[test]
fn paired_t_test() {
    for c in cases("paired_t") {
        // A family so large that no exact p could survive it.
        let got = paired(&numbers(&c["d"]), 1_000_000).expect("fit");
        assert_eq!(got.test, Test::PairedT);
        close(got.p, number(&c["p"]), 1e-8);
    }
}

#[test]
fn machines_by_their_runs() {
    let runs = |v: &Value| -> Vec<Run> {
        numbers(v).into_iter().map(|m| Run { m, se: Some(0.0), takes: 10 }).collect()
    };
    // The reference starts from the assumption at eight degrees of freedom.
    let prior = Some(Learnt { scale: 1.0, dof: 8.0 });
    for c in cases("between") {
        let history: Vec<Vec<Run>> = c["history"].as_array().expect("a list").iter().map(runs).collect();
        let history: Vec<&[Run]> = history.iter().map(Vec::as_slice).collect();
        let got = between(&runs(&c["a"]), &runs(&c["b"]), &history, 0.05, prior).expect("fit");
        close(got.noise.v, number(&c["v"]), 0.0);
        close(got.noise.s, number(&c["s"]), 1e-9);
        close(got.estimate, number(&c["estimate"]), 1e-9);
        close(got.interval.low, number(&c["low"]), 1e-7);
        close(got.interval.high, number(&c["high"]), 1e-7);
        close(got.p, number(&c["p"]), 1e-7);
        close(got.noise.aa_floor(), number(&c["floor"]), 1e-8);
    }
}

#[test]
fn random_numbers() {
    for c in cases("xoshiro") {
        let mut rng = Rng::new(c["seed"].as_u64().expect("64 bits"));
        for bits in c["bits"].as_array().expect("a list") {
            assert_eq!(Some(rng.bits()), bits.as_u64());
        }
    }
}
