# One Python script does the work, so that it also runs where there is no make: python run.py lab|test|test-all|test-browser|mutate|mutate-exercises|bench|site|class-report|nbgrader|lock|clean
# Arguments go through:  make lab ARGS="--no-browser --port 9999"    make test ARGS="-k relu"
PYTHON ?= python3

lab test test-all test-browser mutate mutate-exercises bench site class-report nbgrader lock clean:
	@$(PYTHON) run.py $@ $(ARGS)

.PHONY: lab test test-all test-browser mutate mutate-exercises bench site class-report nbgrader lock clean
