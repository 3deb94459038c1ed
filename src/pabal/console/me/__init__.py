"""What users see and change about themselves."""
