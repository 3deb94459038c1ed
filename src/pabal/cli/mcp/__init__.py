"""`pabal mcp`: a server of the Model Context Protocol, by which an AI assistant uses a service."""
