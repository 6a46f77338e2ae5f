"""Model against implementation: lockstep, stateful tests, clusters, traces and the verdicts over them."""
