//! Typed parameters with bounds: what an experiment can be asked, and what it was asked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A parameter's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A choice, a name or a path.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Flag(v) => write!(f, "{v}"),
            Value::Int(v) => write!(f, "{v}"),
            Value::Float(v) => write!(f, "{v}"),
            Value::Text(v) => write!(f, "{v}"),
        }
    }
}

/// What values a parameter takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// A whole number from `low` to `high`, both allowed.
    Int {
        /// Smallest.
        low: i64,
        /// Largest.
        high: i64,
    },
    /// A finite real number from `low` to `high`, both allowed.
    Float {
        /// Smallest.
        low: f64,
        /// Largest.
        high: f64,
    },
    /// One of these words.
    Choice {
        /// The words.
        choices: Vec<&'static str>,
    },
    /// One of these words, or a path to an existing file.
    ChoiceOrFile {
        /// The words.
        choices: Vec<&'static str>,
    },
    /// Yes or no.
    Flag,
}

/// One parameter of an experiment.
#[derive(Debug, Clone, Serialize)]
pub struct Parameter {
    /// Its name, as in `--set name=value` and as a column.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it is when not given; several values where `series` is set.
    pub default: Vec<Value>,
    /// Its unit (`bytes`, `packets`), or empty.
    pub unit: &'static str,
    /// One line on what it does.
    pub help: &'static str,
    /// Whether a list of values may be given: one race a value.
    pub series: bool,
    /// Arms whose cost can't fall when this parameter rises; empty where nothing is claimed.
    pub monotonic: Vec<&'static str>,
}

impl Parameter {
    /// A parameter with one default.
    pub fn new(name: &'static str, kind: Kind, default: Value, help: &'static str) -> Self {
        Parameter { name, kind, default: vec![default], unit: "", help, series: false, monotonic: Vec::new() }
    }

    /// Allows lists, with these as default.
    pub fn series(mut self, defaults: Vec<Value>) -> Self {
        self.default = defaults;
        self.series = true;
        self
    }

    /// Names the unit.
    pub fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Declares that the cost of `arms` can't fall when this rises.
    pub fn monotonic(mut self, arms: Vec<&'static str>) -> Self {
        self.monotonic = arms;
        self
    }

    /// Checks a value and brings it to this parameter's type (`3` for a real number, `"3"` from a command line).
    pub fn accept(&self, value: &Value) -> Result<Value> {
        let refuse = |wanted: String| Err(Error::invalid(self.name, value, wanted));
        match &self.kind {
            Kind::Int { low, high } => {
                let number = match value {
                    Value::Int(v) => Some(*v),
                    Value::Float(v) if v.fract() == 0.0 && v.abs() < 9e15 => Some(*v as i64),
                    Value::Text(t) => t.replace('_', "").trim().parse().ok(),
                    _ => None,
                };
                match number {
                    Some(v) if (*low..=*high).contains(&v) => Ok(Value::Int(v)),
                    _ => refuse(format!("wanted a whole number from {low} to {high}")),
                }
            }
            Kind::Float { low, high } => {
                let number = match value {
                    Value::Int(v) => Some(*v as f64),
                    Value::Float(v) => Some(*v),
                    Value::Text(t) => t.trim().parse().ok(),
                    Value::Flag(_) => None,
                };
                match number {
                    Some(v) if v.is_finite() && *low <= v && v <= *high => Ok(Value::Float(v)),
                    _ => refuse(format!("wanted a number from {low} to {high}")),
                }
            }
            Kind::Choice { choices } => match value {
                Value::Text(t) if choices.contains(&t.as_str()) => Ok(value.clone()),
                _ => refuse(format!("wanted one of {}", choices.join(", "))),
            },
            Kind::ChoiceOrFile { choices } => match value {
                Value::Text(t) if choices.contains(&t.as_str()) || std::path::Path::new(t).is_file() => {
                    Ok(value.clone())
                }
                _ => refuse(format!("wanted one of {}, or the path of an existing file", choices.join(", "))),
            },
            Kind::Flag => match value {
                Value::Flag(_) => Ok(value.clone()),
                Value::Text(t) if t == "true" || t == "yes" => Ok(Value::Flag(true)),
                Value::Text(t) if t == "false" || t == "no" => Ok(Value::Flag(false)),
                _ => refuse("wanted true or false".into()),
            },
        }
    }
}

/// One cell's values, all parameters present and accepted.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Values(pub BTreeMap<String, Value>);

impl Values {
    fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or_else(|| panic!("parameter {name} isn't declared by this experiment"))
    }

    /// A whole number. Panics if the experiment didn't declare it so (a programming error).
    pub fn int(&self, name: &str) -> i64 {
        match self.get(name) {
            Value::Int(v) => *v,
            other => panic!("{name} is {other}, not a whole number"),
        }
    }

    /// A whole number that is declared non-negative.
    pub fn size(&self, name: &str) -> usize {
        usize::try_from(self.int(name)).expect("declared non-negative")
    }

    /// A real number.
    pub fn float(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Float(v) => *v,
            other => panic!("{name} is {other}, not a real number"),
        }
    }

    /// A word or path.
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Text(v) => v,
            other => panic!("{name} is {other}, not a word"),
        }
    }

    /// Yes or no.
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Flag(v) => *v,
            other => panic!("{name} is {other}, not true or false"),
        }
    }
}
