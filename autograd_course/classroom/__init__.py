"""What a teacher does with a class: `make class-report` and `make nbgrader`. The files of a class are not to be trusted."""
