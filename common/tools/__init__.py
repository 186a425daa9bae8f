"""The course's tools, in rooms by who uses them.

learn/     ./course: the learner's loop and the board
check/     runs an exercise's check, a ladder, a known-wrong answer; makes compile errors readable
measure/   times on a GPU: runs, tables, plots, profiles
trace/     pictures and the stepper, from what the CPU device writes down
teach/     grading, and a copy of the course without its answers
maintain/  the lint, the page of verdicts, nvcc's word
lib/       what several rooms need: metadata of a chapter, results, state, terminal

Modules are found as tools.ROOM.NAME where common/ is on sys.path, which every program here sees to.
"""
