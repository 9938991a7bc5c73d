use rowferry_wire::Malformed;

/// Decodes `INT8`: a sign word, then the low and the high half of the magnitude. Sign 0 is NULL.
pub fn decode_int8(bytes: [u8; 10]) -> Result<Option<i64>, Malformed> {
    let [s0, s1, l0, l1, l2, l3, h0, h1, h2, h3] = bytes;
    let magnitude = u64::from_be_bytes([h0, h1, h2, h3, l0, l1, l2, l3]);
    let magnitude = i64::try_from(magnitude).map_err(|_| Malformed::new("magnitude of an INT8"))?;
    match i16::from_be_bytes([s0, s1]) {
        1 => Ok(Some(magnitude)),
        -1 => Ok(Some(-magnitude)),
        0 => Ok(None),
        _ => Err(Malformed::new("sign of an INT8")),
    }
}

/// Encodes `INT8`. The range is one short of `i64`'s at the low end; `i64::MIN` becomes NULL, as in `BIGINT`.
pub const fn encode_int8(value: Option<i64>) -> [u8; 10] {
    let Some(value) = value else { return [0; 10] };
    if value == i64::MIN {
        return [0; 10];
    }
    let sign: i16 = if value < 0 { -1 } else { 1 };
    let [s0, s1] = sign.to_be_bytes();
    let [h0, h1, h2, h3, l0, l1, l2, l3] = value.unsigned_abs().to_be_bytes();
    [s0, s1, l0, l1, l2, l3, h0, h1, h2, h3]
}
