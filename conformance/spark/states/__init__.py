"""State spaces larger than a machine: explored level by level on Spark, kept in a lake on disk.

| module | content |
|--------|---------|
| `checking` | `check` with the reports of `model.explore.check` |
| `lake` | files on disk, and resumption after any end |
| `tasks` | the work of one task |
| `workers` | tasks on Spark |
| `running` | the choice between this process and Spark |
| `space` | the states as the search sees them |
"""
