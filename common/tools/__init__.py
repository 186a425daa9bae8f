"""The course's tools, in rooms by who uses them. A room imports from those above it in this list, and never from another
(maintain/rooms.py proves it).

lib/       what several rooms need: a chapter's metadata, results, generated texts, what is remembered of a learner, the terminal
check/     runs an exercise's check or a ladder as a test; makes compile errors readable
trace/     pictures and the stepper, from what the CPU device writes down
verdicts/  what each test says on the CPU device and on a GPU
run/       programs of ./course run
learn/     ./course: the learner's loop and the board
measure/   times on a GPU: runs, tables, plots, profiles
teach/     grading, and a copy of the course without its answers
site/      the web site and the slides
maintain/  what common/dev does for contributors: the lint, the list of generated texts, translations, nvcc's word
tests/     their tests: `python3 common tools.tests.test_lesson` runs one

Modules are found as tools.ROOM.NAME where common/ is on sys.path. `python3 common MODULE` sees to that, and so do the
programs that people start by their path.
"""
