"""From a body or a form to checked fields."""
