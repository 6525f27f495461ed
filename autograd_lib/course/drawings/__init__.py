"""What one lesson alone draws, a module a lesson. What serves several is in plots.py and its neighbours.

A notebook says `from autograd_lib.course.drawings.lesson_05 import odometer`. Each is a pure function that returns a Picture.
"""
