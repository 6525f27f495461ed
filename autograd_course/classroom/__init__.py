"""Tools for teachers: `make class-report` and `make nbgrader`.

The files of learners are untrusted input.
"""
