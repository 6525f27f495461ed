"""Settings of the whole suite."""
import hypothesis

# The same examples every time, and no time limit: a slow machine is not a failure.
hypothesis.settings.register_profile("suite", derandomize=True, deadline=None)
hypothesis.settings.load_profile("suite")
