"""The only door for names that are bound later.

`tensor.py` lies below the operators, yet `x.sum()` must find them.  The operator table hands its finished methods over
here, once; nothing else sets attributes on Tensor.
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
