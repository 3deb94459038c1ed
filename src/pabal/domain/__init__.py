"""What things are: pure values and rules that know neither time, chance nor storage."""
