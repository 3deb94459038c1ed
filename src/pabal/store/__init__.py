"""Where things are kept: the only floor that speaks SQL."""
