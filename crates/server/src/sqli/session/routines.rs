//! Routines of the fast path, and the bytes of smart large objects.

use rowferry_wire_sqli::TypeCode;
use rowferry_wire_sqli::messages::{LoReply, LoRequest, Param, ParamValue, ServerMessage};

use super::{Commands, LO_CHUNK, Obeyed};
use crate::sqli::objects::{self, Argument};
use crate::sqli::values::bound;

impl Commands {
    pub(super) fn call(&mut self, handle: i32, params: &[Param<'_>]) -> Obeyed {
        let code_set = self.code_set;
        if self.routines.has(handle)
            && let Some(open) = &mut self.open
        {
            let objects = &self.objects;
            let args = params
                .iter()
                .map(|param| bound(param, code_set, objects))
                .collect::<Result<Vec<_>, rowferry_engine::Error>>()?;
            let returned = self.routines.call(&mut open.session, handle, &args, code_set)?;
            let params = returned.iter().map(crate::sqli::fast_path::Returned::param).collect();
            self.send(&ServerMessage::Results(params));
            return Ok(());
        }
        let mut arguments = Vec::new();
        for param in params {
            arguments.push(match param.value {
                ParamValue::Opaque(bytes) if param.code != TypeCode::LVARCHAR => Argument::Opaque(bytes.to_vec()),
                _ => Argument::Value(bound(param, code_set, &self.objects)?),
            });
        }
        let returned = self.objects.call(handle, &arguments)?;
        let params = returned.iter().map(objects::Returned::param).collect();
        self.send(&ServerMessage::Results(params));
        Ok(())
    }

    pub(super) fn lo_data(&mut self, request: &LoRequest) -> Obeyed {
        let bytes = objects::read(request)?;
        let total = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
        self.send(&ServerMessage::LoData(LoReply::Read(total)));
        for chunk in bytes.chunks(LO_CHUNK) {
            self.send(&ServerMessage::LoChunk(chunk));
        }
        Ok(())
    }
}
