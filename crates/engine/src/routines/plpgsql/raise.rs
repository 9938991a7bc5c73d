//! RAISE, ASSERT.

use rowferry_dialect::error::Severity;
use rowferry_dialect::postgres::plpgsql::{self, Level, Raise, RaiseOption, Sql};
use rowferry_dialect::{Condition, Error, Result, Type};

use super::frame::Frame;

impl Frame<'_, '_> {
    /// RAISE.
    pub(super) fn raise(&mut self, raise: &Raise) -> Result<()> {
        let again = raise.format.is_none() && raise.condition.is_none() && raise.options.is_empty();
        if again {
            let Some((mut caught, place)) = self.caught.clone() else {
                return Err(Error::new(
                    Condition::StackedDiagnosticsOutsideHandler,
                    "RAISE without parameters cannot be used outside an exception handler",
                ));
            };
            // This function's own line comes anew: where the error was met first.
            self.place = place;
            if let Some(context) = caught.context.take() {
                caught.context = context.rsplit_once('\n').map(|(inner, _)| inner.to_owned());
            }
            return Err(caught);
        }
        let message = match &raise.format {
            Some(format) => Some(self.formatted(format, &raise.values)?),
            None => None,
        };
        let mut code = raise.sqlstate.clone();
        let mut message = message;
        let mut error = Error::new(Condition::RaiseException, "");
        for (at, (option, value)) in raise.options.iter().enumerate() {
            let twice = raise.options[..at].iter().any(|(known, _)| known == option)
                || *option == RaiseOption::Message && raise.format.is_some()
                || *option == RaiseOption::Code && raise.sqlstate.is_some();
            let Some(text) = self.evaluate_text(value)? else {
                let message = "RAISE statement option cannot be null";
                return Err(Error::new(Condition::NullValueNotAllowed, message));
            };
            if twice {
                let message = format!("RAISE option already specified: {}", option.word());
                return Err(Error::new(Condition::SyntaxError, message));
            }
            match option {
                RaiseOption::Code => code = Some(code_of(&text)?),
                RaiseOption::Message => message = Some(text),
                RaiseOption::Detail => error.detail = Some(text),
                RaiseOption::Hint => error.hint = Some(text),
                RaiseOption::Column => error.column = Some(text),
                RaiseOption::Constraint => error.constraint = Some(text),
                RaiseOption::DataType => error.data_type = Some(text),
                RaiseOption::Table => error.table = Some(text),
                RaiseOption::Schema => error.schema = Some(text),
            }
        }
        error.message = match (message, &raise.condition, &code) {
            (Some(message), ..) => message,
            (None, Some(condition), _) => condition.clone(),
            (None, None, Some(code)) => code.clone(),
            (None, None, None) => Condition::RaiseException.sqlstate().to_owned(),
        };
        if raise.level == Level::Exception {
            if let Some(code) = code {
                error = error.with_sqlstate(&code);
            }
            return Err(error);
        }
        let default = if raise.level == Level::Warning { "01000" } else { "00000" };
        let severity = match raise.level {
            Level::Debug => Severity::Debug,
            Level::Log => Severity::Log,
            Level::Info => Severity::Info,
            Level::Warning => Severity::Warning,
            _ => Severity::Notice,
        };
        let mut notice = error.with_sqlstate(code.as_deref().unwrap_or(default)).with_severity(severity);
        notice.context = Some(self.context());
        self.session.remark(notice);
        Ok(())
    }

    /// A format with `%` for each of the values; `%%` is a percent sign.
    fn formatted(&mut self, format: &str, values: &[Sql]) -> Result<String> {
        let mut out = String::with_capacity(format.len());
        let mut values = values.iter();
        let mut characters = format.chars().peekable();
        while let Some(character) = characters.next() {
            if character != '%' {
                out.push(character);
                continue;
            }
            if characters.next_if_eq(&'%').is_some() {
                out.push('%');
                continue;
            }
            let Some(value) = values.next() else {
                let message = "too few parameters specified for RAISE";
                return Err(Error::new(Condition::SyntaxError, message));
            };
            let text = self.evaluate_text(value)?;
            rowferry_dialect::work::append_text(&mut out, text.as_deref().unwrap_or("<NULL>"))?;
        }
        Ok(out)
    }

    /// ASSERT.
    pub(super) fn assert(&mut self, condition: &Sql, message: Option<&Sql>) -> Result<()> {
        if self.session.variable("plpgsql.check_asserts").as_deref() == Some("off") || self.is_true(condition)? {
            return Ok(());
        }
        let text = match message {
            Some(message) => self.evaluate_as(message, &Type::Text)?,
            None => None,
        };
        let text = match text {
            Some(rowferry_dialect::ir::Value::Text(text)) => text,
            _ => "assertion failed".to_owned(),
        };
        Err(Error::new(Condition::AssertFailure, text))
    }
}

/// The code that ERRCODE gives: five characters, or a condition's name.
fn code_of(text: &str) -> Result<String> {
    let is_code = text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    if is_code {
        return Ok(text.to_owned());
    }
    plpgsql::sqlstates_of(text)
        .first()
        .map(|code| (*code).to_owned())
        .ok_or_else(|| Error::new(Condition::UndefinedObject, format!("unrecognized exception condition \"{text}\"")))
}
