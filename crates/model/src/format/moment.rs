//! A moment as text: dates of the calendar, by a clock that is told in seconds since 1970.

/// A date and a time of day in UTC.
pub struct Moment {
    year: i64,
    month: i64,
    day: i64,
    /// Since midnight.
    second: i64,
    /// Since 1970.
    days: i64,
}

impl Moment {
    /// The moment so many seconds after the beginning of 1970; `None` for what is no date of the calendar.
    pub fn at(seconds: f64) -> Option<Moment> {
        if !seconds.is_finite() || seconds.abs() > 2.5e11 {
            return None;
        }
        let total = seconds.floor() as i64;
        let (days, second) = (total.div_euclid(86_400), total.rem_euclid(86_400));
        // Days since 1 March of the year 0, in cycles of 400 years.
        let shifted = days + 719_468;
        let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let of_year = day - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        Some(Moment { year, month, day, second, days })
    }

    /// `2026-11-21`
    pub fn date(&self) -> String {
        format!("{:04}-{}", self.year, self.day_of_year())
    }

    /// `11-21`
    pub fn day_of_year(&self) -> String {
        format!("{:02}-{:02}", self.month, self.day)
    }

    /// `06:20`
    pub fn time(&self) -> String {
        format!("{:02}:{:02}", self.second / 3_600, self.second / 60 % 60)
    }

    /// Seconds of the minute.
    pub fn seconds(&self) -> i64 {
        self.second % 60
    }

    /// `Mon`
    pub fn weekday(&self) -> &'static str {
        const NAMES: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        NAMES[self.days.rem_euclid(7) as usize]
    }

    /// `Mon 06:20` within a stretch of less than a week, else `2026-11-21 06:20`.
    pub fn within(&self, stretch: f64) -> String {
        const WEEK: f64 = 6.5 * 86_400.0;
        if stretch < WEEK {
            format!("{} {}", self.weekday(), self.time())
        } else {
            format!("{} {}", self.date(), self.time())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_week_have_names() {
        let shown = |seconds, stretch| Moment::at(seconds).unwrap().within(stretch);
        assert_eq!(shown(0.0, 60.0), "Thu 00:00");
        assert_eq!(shown(1_795_242_060.0, 60.0), "Sat 06:21");
        assert_eq!(shown(-1.0, 1e9), "1969-12-31 23:59");
    }
}
