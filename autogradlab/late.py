"""The only door for names that are bound later.

`tensor.py` lies below the operators, yet `x.sum()` must find them; and a program uses few of the files in `ops/`, so
that each is loaded when one of its names is first asked for.  Whoever knows which file binds what says so (`offer`).
From then on a name of torch is looked up in a table of names, and a member of Tensor is a StandIn, which gives way to
the real one.  While a function is traced, members of Tensor that tell of it stand in for the usual ones (`exchange`).
Nothing else sets attributes on Tensor.
"""

import os
from importlib import import_module


class Names(dict):
    """name -> what a file binds to it: `names["sum"]` loads that file first, if it has to.

    The dict holds what was asked for so far; whoever goes through all names calls load_all() first.
    """

    def __init__(self, files: dict):
        self.files = files  # name -> the module that binds it
        self.bound = {}  # name -> what the modules loaded so far bound to it

    def __missing__(self, name: str):
        import_module(self.files[name])  # waits where another thread is loading it
        found = self[name] = self.bound[name]
        return found


functions = Names({})  # the functions of torch
nn_functions = Names({})  # those of nn.functional that operators are
methods = Names({})  # the members of Tensor
operators = Names(functions.files)  # the operators; one is found in the file that has the function of its name
MODULES = []  # that were offered


def offer(package: str, contents: str) -> None:
    """Say which module of a package binds what: "join: cat() roll .repeat", and so on.

    `roll` is a function and a method, `cat()` a function alone, `.repeat` a method alone, `nn.elu` is of nn.functional.
    """
    module = None
    for word in contents.split():
        if word.endswith(":"):
            module = f"{package}.{word[:-1]}"
            MODULES.append(module)
        elif word.startswith("nn."):
            nn_functions.files[word[3:]] = module
        else:
            if not word.startswith("."):
                functions.files[word.removesuffix("()")] = module
            if not word.endswith("()"):
                methods.files[word.removeprefix(".")] = module


def load_all() -> None:
    """Load every module that was offered."""
    for module in MODULES:
        import_module(module)
    for names in (functions, nn_functions, methods, operators):
        names.update(names.bound)


if hasattr(os, "register_at_fork"):  # else a child could wait for a file that a thread it has not got was loading
    os.register_at_fork(before=load_all)


class StandIn:
    """A member of a class until it is first asked for: then its file is loaded, and the members that the file binds
    take their places.
    """

    __slots__ = ("cls", "name")

    def __init__(self, cls: type, name: str):
        self.cls, self.name = cls, name

    def give_way(self):
        file = methods.files[self.name]
        for name in [name for name, its_file in methods.files.items() if its_file == file]:
            member = methods[name]
            if isinstance(vars(self.cls)[name], StandIn):  # no other thread was faster
                setattr(self.cls, name, member)
        return methods[self.name]

    def __get__(self, instance, owner=None):
        member = self.give_way()
        own = {} if instance is None else vars(instance)
        if self.name in own and not hasattr(member, "__set__"):  # an attribute of that tensor goes before a method
            return own[self.name]
        return member.__get__(instance, owner)

    def __set__(self, instance, value):
        self.give_way()
        setattr(instance, self.name, value)


def install(cls: type) -> None:
    """Give `cls` a stand-in for every method offered.  A name that the class has already is an error."""
    members = vars(cls)
    for name in methods.files:
        if name in members:
            raise TypeError(f"{cls.__name__}.{name} exists already: an operator must not replace it")
        setattr(cls, name, StandIn(cls, name))


def own(cls: type, name: str):
    """The member that a class itself has, as it stands there."""
    getattr(cls, name)  # a stand-in gives way
    return vars(cls)[name]


def exchange(cls: type, members: dict) -> dict:
    """Give `cls` other members in place of its own; returns its own, with which to undo it."""
    own_members = {name: own(cls, name) for name in members}
    for name, member in members.items():
        setattr(cls, name, member)
    return own_members
