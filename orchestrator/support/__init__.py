"""What vendors say: facts are data with a source, rules the few general kinds, an answer a verdict with reasons."""
