"""State spaces larger than a machine: explored level by level on Spark, kept in a lake on disk.

`checking` answers as `model.explore.check` does. What is kept on disk, and how a run goes on after any end,
`lake` says; what one task does, `tasks`; how it is asked by Spark, `workers`; where tasks run, `running`; how
it looks to the search, `space`. A worker of Spark imports this package, so that nothing is loaded here.
"""
