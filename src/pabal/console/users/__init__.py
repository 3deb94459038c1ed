"""What users do about themselves and their team: signing in, their own settings, invitations, keys."""
