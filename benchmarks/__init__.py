"""`make bench`: the credit models on generated touches, beside naive SQL and one scan in the same run."""
