//! The options that say what machines and targets cost and draw.

/// The currency where neither the user nor the inventory says one.
pub const USUAL_CURRENCY: &str = "USD";

#[derive(Clone, Debug, Default, clap::Args)]
pub struct CostArgs {
    /// 0.192/h, 35/month, 429 bought, or the middle of a band, 2000..2500; of one: NAME=0.192/h
    #[arg(long, value_name = "PRICE")]
    pub price: Vec<String>,
    /// Currency of the price
    #[arg(long, value_name = "CODE", requires = "price", default_value = USUAL_CURRENCY)]
    pub currency: String,
    /// Power in watts; of one: NAME=40
    #[arg(long, value_name = "W")]
    pub watts: Vec<String>,
}
