//! Simulated proofs of the promises: false rows, coverage, and what is found.
//!
//! Seeded, so each figure is always the same; the limits leave room for another seed. Noise is
//! multiplicative; percentages are standard deviations of logarithms.

use stats::*;

const PAIRS: usize = 2_000;
const MOST_FALSE: f64 = 0.06;
/// The spread between runs that a floor of 5 % assumes.
const S0: f64 = 0.05 / (1.959_963_984_540_054 * std::f64::consts::SQRT_2);

fn share(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}

/// How often each of two claims is made: "the interval excludes no difference" and "p <= 0.05".
#[derive(Default)]
struct Claims {
    rows: usize,
    interval: usize,
    p: usize,
}

impl Claims {
    fn add(&mut self, interval: Option<Interval>, p: f64) {
        self.rows += 1;
        self.interval += usize::from(interval.is_some_and(|i| !i.contains(0.0)));
        self.p += usize::from(p <= ALPHA);
    }

    #[track_caller]
    fn at_most(&self, most: f64) {
        let (interval, p) = (share(self.interval, self.rows), share(self.p, self.rows));
        assert!(interval <= most && p <= most, "interval {interval} p {p}");
        assert!(self.rows >= PAIRS);
    }
}

/// Takes of one arm and of the other, sharing slow noise (autoregressive) but not their own.
struct Study {
    slow: f64,
    own: f64,
    effect: f64,
    /// Values are rounded to multiples of this.
    quantum: f64,
}

impl Study {
    fn blocks(&self, n: usize, rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
        let keep = 0.9_f64;
        let mut level = rng.normal();
        let mut take = |level: f64, effect: f64| {
            // Skewed: a long tail of slow takes on top of the normal part.
            let noise = self.own * (0.8 * rng.normal() + 0.6 * (rng.exponential() - 1.0));
            let value = 100.0 * (effect + self.slow * level + noise).exp();
            let value =
                if self.quantum > 0.0 { (value / self.quantum).round() * self.quantum } else { value };
            (value, rng.normal())
        };
        let (mut arm, mut base) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let (a, next) = take(level, self.effect);
            let (b, _) = take(level, 0.0);
            level = keep * level + (1.0 - keep * keep).sqrt() * next;
            arm.push(a);
            base.push(b);
        }
        (arm, base)
    }

    fn compare(&self, n: usize, family: usize, rng: &mut Rng) -> Paired {
        let (arm, base) = self.blocks(n, rng);
        paired(&log_ratios(&arm, &base).expect("positive"), family).expect("fit")
    }
}

const STUDY: Study = Study { slow: 0.03, own: 0.01, effect: 0.0, quantum: 0.0 };

#[test]
fn arms_of_one_study_make_few_false_rows() {
    let mut rng = Rng::new(101);
    for (n, study) in [
        (8, STUDY),
        (10, STUDY),
        (22, STUDY),
        (12, Study { quantum: 1.0, ..STUDY }),
        (12, Study { slow: 0.0, own: 0.10, ..STUDY }),
    ] {
        let mut claims = Claims::default();
        for _ in 0..PAIRS {
            let c = study.compare(n, 1, &mut rng);
            claims.add(c.interval, c.p);
        }
        claims.at_most(MOST_FALSE);
    }
}

#[test]
fn a_quick_run_of_fifteen_rows_makes_few_false_families() {
    // Eight blocks cannot reach 0.05 / 15 exactly, so that the paired t speaks.
    let mut rng = Rng::new(102);
    let families = 600;
    let mut wrong = 0;
    for _ in 0..families {
        let rows: Vec<Paired> = (0..15).map(|_| STUDY.compare(8, 15, &mut rng)).collect();
        assert!(rows.iter().all(|r| r.test == Test::PairedT));
        let adjusted = holm(&rows.iter().map(|r| Some(r.p)).collect::<Vec<_>>());
        wrong += usize::from(adjusted.iter().flatten().any(|p| *p <= ALPHA));
    }
    assert!(share(wrong, families) <= MOST_FALSE, "{wrong} of {families}");
}

/// A machine's runs: each has a level of its own (`between`) and takes around it (`within`).
struct Machine {
    level: f64,
    between: f64,
    within: f64,
    takes: usize,
}

impl Machine {
    fn runs(&self, count: usize, rng: &mut Rng) -> Vec<Run> {
        (0..count)
            .map(|_| {
                let run = self.level + self.between * rng.normal();
                let takes: Vec<f64> =
                    (0..self.takes).map(|_| (run + self.within * rng.normal()).exp()).collect();
                Run::from_takes(&takes).expect("positive")
            })
            .collect()
    }
}

const STEADY: Machine = Machine { level: 4.0, between: S0, within: 0.01, takes: 10 };

#[test]
fn one_two_and_three_runs_each_make_few_false_rows() {
    let mut rng = Rng::new(103);
    for runs in [1, 2, 3] {
        for history in [0, 5] {
            let mut claims = Claims::default();
            for _ in 0..PAIRS {
                let (a, b) = (STEADY.runs(runs, &mut rng), STEADY.runs(runs, &mut rng));
                let old = STEADY.runs(history, &mut rng);
                let c = between(&a, &b, &[&old], 0.05, None).expect("fit");
                claims.add(Some(c.interval), c.p);
            }
            claims.at_most(MOST_FALSE);
        }
    }
}

#[test]
fn noisy_takes_make_few_false_rows() {
    // The medians of ten takes are about as uncertain as the runs differ.
    let machine = Machine { within: 0.05, ..STEADY };
    let mut rng = Rng::new(104);
    let mut claims = Claims::default();
    for _ in 0..PAIRS {
        let (a, b) = (machine.runs(1, &mut rng), machine.runs(1, &mut rng));
        let c = between(&a, &b, &[], 0.05, None).expect("fit");
        claims.add(Some(c.interval), c.p);
    }
    claims.at_most(MOST_FALSE);
}

fn judge(c: &Between, adjusted: Option<f64>) -> Verdict {
    verdict(Some(c.interval), adjusted, Margin::MACHINES, Better::Higher, c.into())
}

/// Sixty rows of which the first truly differs by `ln_ratio`: its verdict, and the false ones.
fn sixty_rows(runs: usize, ln_ratio: f64, spread: f64, rng: &mut Rng) -> (Verdict, usize) {
    let machine = Machine { between: spread, ..STEADY };
    let better = Machine { level: machine.level + ln_ratio, ..machine };
    let runs: Vec<[Vec<Run>; 2]> = (0..60)
        .map(|row| {
            let arm = if row == 0 { &better } else { &machine };
            [arm.runs(runs, rng), machine.runs(runs, rng)]
        })
        .collect();
    let seen = runs.iter().map(|[arm, base]| Seen::new(&[arm, base], &[], 0.05).expect("finite"));
    let learnt = learn(&seen.collect::<Vec<_>>());
    let rows: Vec<Between> =
        runs.iter().map(|[arm, base]| between(arm, base, &[], 0.05, learnt).expect("fit")).collect();
    let adjusted = holm(&rows.iter().map(|c| Some(c.p)).collect::<Vec<_>>());
    let verdicts: Vec<Verdict> = rows.iter().zip(adjusted).map(|(c, p)| judge(c, p)).collect();
    let wrong = verdicts[1..].iter().filter(|v| matches!(v, Verdict::Better | Verdict::Worse)).count();
    (verdicts[0], wrong)
}

#[test]
fn twenty_per_cent_is_called_among_sixty_rows() {
    let mut rng = Rng::new(105);
    let tables = 150;
    for (runs, least) in [(2, 0.9), (3, 0.98), (5, 0.98)] {
        let mut called = 0;
        for _ in 0..tables {
            let (planted, _) = sixty_rows(runs, 1.2_f64.ln(), 0.02, &mut rng);
            called += usize::from(planted == Verdict::Better);
        }
        assert!(share(called, tables) >= least, "{runs} runs: {called} of {tables}");
    }
}

#[test]
fn verdicts_on_nothing_are_rare() {
    let mut rng = Rng::new(106);
    for runs in [1, 2, 3] {
        let wrong: usize = (0..50).map(|_| sixty_rows(runs, 0.0, S0, &mut rng).1).sum();
        assert!(share(wrong, 50 * 59) <= 0.003, "{runs} runs: {wrong}");
    }
}

#[test]
fn a_planted_ten_per_cent_is_found() {
    let mut rng = Rng::new(107);
    let times = 400;
    let study = Study { effect: 1.1_f64.ln(), ..STUDY };
    let in_a_study = (0..times)
        .filter(|_| {
            let c = study.compare(10, 15, &mut rng);
            let adjusted = Some(c.p * 15.0);
            let basis = Basis::Blocks { n: c.n };
            verdict(c.interval, adjusted, Margin::ARMS, Better::Higher, basis) == Verdict::Better
        })
        .count();
    assert!(share(in_a_study, times) >= 0.99, "{in_a_study}");

    let base = Machine { between: 0.01, ..STEADY };
    let arm = Machine { level: base.level + 1.1_f64.ln(), ..base };
    // As nine figures of that spread teach it.
    let learnt = Some(Learnt { scale: (0.011 / S0).powi(2), dof: 18.0 });
    let by_runs = (0..times)
        .filter(|_| {
            let c = between(&arm.runs(4, &mut rng), &base.runs(4, &mut rng), &[], 0.05, learnt).expect("fit");
            judge(&c, Some(c.p * 15.0)) == Verdict::Better
        })
        .count();
    assert!(share(by_runs, times) >= 0.9, "{by_runs}");
}

#[test]
fn medians_are_covered_on_skewed_samples() {
    let mut rng = Rng::new(108);
    let median_of_exponential = std::f64::consts::LN_2;
    for n in [6, 8, 10, 15, 33] {
        let (mut with, mut covered) = (0, 0);
        for _ in 0..PAIRS {
            let values: Vec<f64> = (0..n).map(|_| rng.exponential()).collect();
            if let Some(i) = summary(&values).expect("fit").interval {
                with += 1;
                covered += usize::from(i.contains(median_of_exponential));
            }
        }
        assert!(share(covered, with) >= 0.94, "n {n}: {covered} of {with}");
        // Few takes cannot show that they are independent.
        let least = if n < 15 { 0.6 } else { 0.85 };
        assert!(share(with, PAIRS) >= least, "n {n}: chance resemblance took {} intervals", PAIRS - with);
    }
}

#[test]
fn medians_are_covered_when_takes_resemble_each_other() {
    let mut rng = Rng::new(109);
    let keep = 0.5_f64;
    let (mut with, mut covered) = (0, 0);
    for _ in 0..PAIRS {
        let mut level = rng.normal();
        let values: Vec<f64> = (0..50)
            .map(|_| {
                level = keep * level + (1.0 - keep * keep).sqrt() * rng.normal();
                level
            })
            .collect();
        if let Some(i) = summary(&values).expect("fit").interval {
            with += 1;
            covered += usize::from(i.contains(0.0));
        }
    }
    // Without the correction this is about 75 %; the resemblance itself is only estimated.
    assert!(share(covered, with) >= 0.90, "{covered} of {with}");
}

#[test]
fn differences_are_covered_on_skewed_samples() {
    let mut rng = Rng::new(110);
    for n in [8, 12, 22] {
        let study = Study { effect: 0.07, own: 0.05, ..STUDY };
        let covered = (0..PAIRS)
            .filter(|_| study.compare(n, 1, &mut rng).interval.is_some_and(|i| i.contains(0.07)))
            .count();
        assert!(share(covered, PAIRS) >= 0.94, "n {n}: {covered}");
    }
}

#[test]
fn quantiles_over_takes_are_covered() {
    let mut rng = Rng::new(111);
    let times = 1_000;
    // p90 of an exponential whose level varies by 5 % from take to take, by twenty million draws.
    let truth = 2.3057;
    for takes in [6, 10] {
        let covered = (0..times)
            .filter(|_| {
                let takes: Vec<Take> = (0..takes)
                    .map(|_| {
                        let level = (0.05 * rng.normal()).exp();
                        (0..100).map(|_| (level * rng.exponential(), 1)).collect()
                    })
                    .collect();
                let b = quantile_over_takes(&takes, 0.9, 100, 300, &mut rng).expect("fit");
                b.interval.contains(truth)
            })
            .count();
        assert!(share(covered, times) >= 0.93, "{takes} takes: {covered} of {times}");
    }
}

/// Exact two-sided Mann-Whitney p for values without ties: what ignoring the blocks would give.
fn unpaired_p(a: &[f64], b: &[f64]) -> f64 {
    let (n, m) = (a.len(), b.len());
    // ways[i][u]: orders of i values of `a` among the values of `b` so far in which `a` wins u pairs.
    let mut ways = vec![vec![0.0; n * m + 1]; n + 1];
    ways[0][0] = 1.0;
    for row in ways.iter_mut().skip(1) {
        row[0] = 1.0;
    }
    for _ in 0..m {
        for i in 1..=n {
            let (before, rest) = ways.split_at_mut(i);
            // The smallest value is of `b`, below all i of `a`, or of `a`, which beats none.
            for u in (0..=n * m).rev() {
                let beaten = if u >= i { rest[0][u - i] } else { 0.0 };
                rest[0][u] = beaten + before[i - 1][u];
            }
        }
    }
    let wins = a.iter().map(|x| b.iter().filter(|y| x > y).count()).sum::<usize>();
    let far = wins.max(n * m - wins);
    let total: f64 = ways[n].iter().sum();
    (2.0 * ways[n][far..].iter().sum::<f64>() / total).min(1.0)
}

#[test]
fn pairing_finds_what_an_unpaired_test_misses() {
    let study = Study { effect: 0.02, ..STUDY };
    let mut rng = Rng::new(112);
    let times = 1_000;
    let (mut with_pairs, mut without) = (0, 0);
    for _ in 0..times {
        let (arm, base) = study.blocks(12, &mut rng);
        let d = log_ratios(&arm, &base).expect("positive");
        with_pairs += usize::from(paired(&d, 1).expect("fit").p <= ALPHA);
        without += usize::from(unpaired_p(&arm, &base) <= ALPHA);
    }
    assert!(share(with_pairs, times) >= 0.95, "{with_pairs}");
    assert!(share(without, times) <= 0.75, "{without}");
}

#[test]
fn stopping_by_width_keeps_the_false_rate() {
    let mut rng = Rng::new(113);
    let mut used = std::collections::BTreeMap::<usize, usize>::new();
    let mut claims = Claims::default();
    let rule = StopRule::standard(0.02);
    let study = Study { slow: 0.0, own: 0.03, ..STUDY };
    for _ in 0..PAIRS {
        let (arm, base) = study.blocks(rule.most(), &mut rng);
        let mut done = 0;
        while let Decision::Continue { until } = rule.look(done, &[&arm[..done], &base[..done]]) {
            done = until;
        }
        *used.entry(done).or_default() += 1;
        let c = paired(&log_ratios(&arm[..done], &base[..done]).expect("positive"), 1).expect("fit");
        claims.add(c.interval, c.p);
    }
    assert!(used.len() > 2, "the looks are really used: {used:?}");
    claims.at_most(MOST_FALSE);
}

#[test]
fn stopping_on_significance_would_not_keep_it() {
    let mut rng = Rng::new(114);
    let wrong = (0..PAIRS)
        .filter(|_| {
            let (arm, base) = STUDY.blocks(50, &mut rng);
            let d = log_ratios(&arm, &base).expect("positive");
            stop::LOOKS.iter().any(|n| paired(&d[..*n], 1).expect("fit").p <= ALPHA)
        })
        .count();
    assert!(share(wrong, PAIRS) > 0.10, "{wrong}: the reason for looking at widths only");
}

#[test]
fn ratio_of_ratios_covers_the_truth() {
    let mut rng = Rng::new(115);
    let times = 500;
    let truth = 0.2;
    let covered = (0..times)
        .filter(|_| {
            let x = Study { effect: 0.5, ..STUDY }.compare(10, 1, &mut rng).effect().expect("ten blocks");
            let y = Study { effect: 0.3, ..STUDY }.compare(10, 1, &mut rng).effect().expect("ten blocks");
            ratio_of_ratios(&x, &y).interval.contains(truth)
        })
        .count();
    assert!(share(covered, times) >= 0.94, "{covered}");
}

#[test]
fn the_index_covers_the_truth() {
    let mut rng = Rng::new(117);
    let times = 500;
    for dependence in [Dependence::Independent, Dependence::Shared] {
        let covered = (0..times)
            .filter(|_| {
                // Shared: one deviation of the whole run moves all five components alike.
                let common = (S0 * rng.normal(), S0 * rng.normal());
                let parts: Vec<Option<Effect>> = (0..5)
                    .map(|_| {
                        let own = (S0 * rng.normal(), S0 * rng.normal());
                        let (a, b) = if dependence == Dependence::Shared { common } else { own };
                        let run = |m| [Run { m, se: None, takes: 10 }];
                        between(&run(0.1 + a), &run(b), &[], 0.05, None).ok().map(|c| c.effect())
                    })
                    .collect();
                index(&parts, dependence).expect("all there").effect.interval.contains(0.1)
            })
            .count();
        assert!(share(covered, times) >= 0.94, "{dependence:?}: {covered}");
    }
}

#[test]
fn a_hundred_thousand_values_are_no_trouble() {
    let mut rng = Rng::new(116);
    let v: Vec<f64> = (0..100_000).map(|_| (0.1 * rng.normal()).exp()).collect();
    let half = v.len() / 2;
    assert!(summary(&v).expect("fit").interval.is_some());
    assert!(
        paired(&log_ratios(&v[..half], &v[half..]).expect("positive"), 60).expect("fit").interval.is_some()
    );
    assert!(!drift(&v).expect("fit").doubtful);
    assert!(ks_distance(&v[..half], &v[half..]).is_some_and(|d| d < 0.02));
    assert!(Run::from_takes(&v).expect("fit").se.is_some_and(|se| se < 0.001));
}
