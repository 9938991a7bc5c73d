//! Listeners, TLS, authentication and the sessions that join a wire to the engine.
