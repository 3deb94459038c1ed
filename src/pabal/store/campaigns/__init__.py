"""The tables of campaigns, drafts and saved texts."""
