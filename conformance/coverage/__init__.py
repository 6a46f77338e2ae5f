"""Coverage: what runs have exercised of a model and of an implementation, and what no run has.

Branches of code (`branches`) and state classes (`classes`) are recorded while runs are taken (`recorder`);
runs of a swarm are also read as paths of a bounded model (`paths`, `model`). What several methods have
exercised is one document (`document`), which is reported (`report`). A swarm is steered by what its runs have
exercised.
"""
