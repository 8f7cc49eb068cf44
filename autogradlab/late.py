"""The only door for names that are bound later.

`tensor.py` lies below the operators, yet `x.sum()` must find them.  The operator table hands its finished methods over
here, once; and while a function is traced, members of Tensor that tell of it stand in for the usual ones.  Nothing else
sets attributes on Tensor.
"""

operators = {}  # name -> operator, for the lower files that need one at run time
functions = {}  # name -> public function, likewise
nn_functions = {}  # name -> function of nn.functional


def install(cls: type, methods: dict) -> None:
    """Give `cls` its methods.  A name that the class has already is an error."""
    for name, method in methods.items():
        if name in vars(cls):
            raise TypeError(f"{cls.__name__}.{name} exists already: an operator must not replace it")
        setattr(cls, name, method)


def exchange(cls: type, members: dict) -> dict:
    """Give `cls` other members in place of its own; returns its own, with which to undo it."""
    own = {name: vars(cls)[name] for name in members}
    for name, member in members.items():
        setattr(cls, name, member)
    return own
