"""Tools for teachers: `make class-report` and `make nbgrader`. Learners' files are untrusted input."""
