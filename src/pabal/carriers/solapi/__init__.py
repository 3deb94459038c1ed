"""The carrier over Solapi."""
