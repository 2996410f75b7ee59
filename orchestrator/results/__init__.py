"""What bundles say, what that makes of each cell, and the merged files of a run."""
