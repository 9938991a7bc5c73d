//! Blocking pumps: sockets, TLS and time-outs around the client cores.
