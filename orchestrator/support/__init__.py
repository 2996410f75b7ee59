"""What vendors say: facts are data with a source, rules are the few general kinds, an answer is a verdict with reasons."""
