"""Checks of the exercises: each takes the learner's function as its argument and says what came back.

In an exercise: `from autogradlab.learn.checks import ch03 as check`, then `check.permute(permute)`.

    ask.py          calls the learner's function and writes down, as plain data, what it did
    task.py         a task's cases, and the sentence that is said about an answer
    arrays.py       NumPy arrays as plain data
    enumerated*.py  the right answers, found in another way: every element visited, gradients sent on in waves
    ch03.py, ...    the tasks of a chapter

None of them needs more than the standard library (NumPy, where a task hands in arrays), and none imports the
engine: a check that computed with the code it explains could not notice that both are wrong.
"""
