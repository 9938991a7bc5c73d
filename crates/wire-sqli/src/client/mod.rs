//! The client's role: conversations over the messages of a server.
