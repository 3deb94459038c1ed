"""How the world talks to us: the interface, its documentation, health and figures."""
