"""The one door to the course: sets up what is missing, then opens it.

    python3 course.py lab              open the course in JupyterLab
    python3 course.py notebook         open it in Notebook 7, one notebook a page
    python3 course.py test             run every test
    python3 course.py doctor           say what works on this machine, and how to mend what does not
    python3 course.py start 03         copy the exercise of chapter 03 into work/
    python3 course.py check 03         run your exercise as the instructor will, and say what to mend
    python3 course.py submit 03        hand it in
    python3 course.py progress         what you have done, chapter by chapter
    python3 course.py pages DIR        every chapter as a page to read in a browser, without Jupyter
    python3 course.py grade            (instructors) collect, grade, give feedback
    python3 course.py learner-tree DIR (instructors) a copy of the course without solutions

for maintainers:

    python3 course.py setup            only make the environment (the others do so too when it is missing)
    python3 course.py notebooks [NAME ...]   execute the notebooks and store their outputs
    python3 course.py lint             what stored notebooks must keep to
    python3 course.py exercises        make exercises/ anew from solutions/
    python3 course.py oracle           compare the engine with PyTorch, which gets an environment of its own
    python3 course.py lock             resolve the dependencies again
    python3 course.py format           format, and mend what the linter can mend

Every command but `lock` says more with --help; `lab` and `notebook` hand further options to Jupyter.

Python 3.11 or newer is all it needs. The environment is made in .venv beside this file, from the versions and hashes
in requirements.lock; once made, nothing is downloaded until that lock changes.
"""

# Only syntax that Python 3.6 can read stands in this file, so that an old Python can say what is wrong.
import difflib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.realpath(__file__))
LEARNERS = ("start", "check", "submit", "progress", "pages")
MAINTAINERS = ("exercises", "notebooks", "lint", "oracle")
IN_THE_ENVIRONMENT = LEARNERS + ("grade", "learner-tree") + MAINTAINERS
OPENED_BY = {"lab": "jupyterlab", "notebook": "notebook"}
COMMANDS = tuple(OPENED_BY) + ("test", "doctor", "setup") + IN_THE_ENVIRONMENT + ("lock", "format")


def refuse_old_python():
    """An old Python's own message would be about syntax somewhere inside a package."""
    if sys.version_info >= (3, 11):
        return
    newer = [name for name in ("python3.13", "python3.12", "python3.11") if shutil.which(name)]
    fix = "Install Python 3.13 from https://www.python.org/downloads/ and run course.py with it."
    if newer:
        fix = "Run: %s course.py %s" % (newer[0], " ".join(sys.argv[1:] or ["lab"]))
    this = "%d.%d.%d (%s)" % (sys.version_info[:3] + (sys.executable,))
    sys.exit("course.py: Python 3.11 or newer is needed; this is %s. %s" % (this, fix))


def load_set_up():
    """autogradlab/course/set_up.py by its path: the package itself cannot be imported before it is installed."""
    path = os.path.join(ROOT, "autogradlab", "course", "set_up.py")
    if not os.path.exists(path):
        sys.exit("course.py: %s is missing: run course.py from a whole copy of the course." % path)
    spec = importlib.util.spec_from_file_location("course_set_up", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(env, python, arguments, cwd=ROOT, last=True):
    """Run Python; as the last thing this process does, hand the process itself over, where the system can."""
    command = [str(python), "-P"] + [str(argument) for argument in arguments]
    sys.stdout.flush()
    if last and os.name != "nt":
        os.chdir(cwd)
        os.execve(command[0], command, env)
    child = subprocess.Popen(command, env=env, cwd=cwd)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            pass  # the child got it too, and decides what it means


def jupyter_options():
    """Served to this machine only, with a token, without news and update checks, at chapter 00."""
    options = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    # Jupyter opens the browser through a hidden file, which a browser from a snap, or outside WSL, cannot read.
    if os.path.exists("/snap/bin/firefox") or "microsoft" in platform.release().lower():
        options.append("--ServerApp.use_redirect_file=False")
    return options + [
        "--ServerApp.root_dir=" + ROOT,
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.contents_manager_class=autogradlab.course.contents.CourseContents",
        "--ServerApp.log_level=ERROR",
        "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb",
        "--JupyterNotebookApp.default_url=/notebooks/notebooks/00_start_here.ipynb",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ]


OPENING = """Opens the course in %s, at chapter 00; sets up first what is missing.

    python3 course.py %s [OPTION ...]

Options go on to Jupyter, for instance:

    --no-browser                say the address, open nothing
    --ServerApp.port=8890       another port
    --help-all                  every option of Jupyter's
"""


def dispatch(command, arguments, as_door):
    if command in OPENED_BY and ("-h" in arguments or "--help" in arguments):
        said = OPENING % ("JupyterLab" if command == "lab" else "Notebook 7", command)
        print(said if as_door else said.replace("python3 course.py", "autogradlab"))
        return 0
    setting = load_set_up()
    doctor = os.path.join(ROOT, "autogradlab", "learn", "doctor.py")
    here = os.path.join(ROOT, "autogradlab", "course")
    python = setting.PYTHON if as_door else setting.Path(sys.executable)
    if as_door and (command == "lock" or (command == "doctor" and not setting.is_finished())):
        python = setting.Path(sys.executable)  # these two never set up: one asks the doctor when set-up fails
    elif as_door:
        setting.set_up()
    env = setting.environment(python)
    if command == "setup":
        return 0
    if command == "doctor":
        return run(env, python, [doctor] + arguments)
    if command in OPENED_BY:
        if run(env, python, [doctor], last=False):
            raise setting.Stop("the course cannot run here yet; the lines above say what to mend.")
        print("Jupyter starts. Ctrl-C twice ends it; what you wrote stays.")
        return run(env, python, ["-m", OPENED_BY[command]] + jupyter_options() + arguments)
    if command == "test":
        return run(env, python, [os.path.join(here, "suite.py")] + arguments)
    if command == "lock":
        return run(env, python, [os.path.join(here, "lock.py")] + arguments)
    if command == "format":
        mend = run(env, python, ["-m", "ruff", "check", "--fix"] + arguments, last=False)
        return run(env, python, ["-m", "ruff", "format"] + arguments, last=False) or mend
    # Where the learner stands matters to the paths they type.
    return run(env, python, ["-m", "autogradlab.course", command] + arguments, cwd=os.getcwd())


def main(argv=None, as_door=False):
    """Run one command. As `autogradlab COMMAND` it uses the environment it was started from, as it is."""
    refuse_old_python()
    argv = sys.argv[1:] if argv is None else argv
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(__doc__ if as_door else __doc__.replace("python3 course.py", "autogradlab"))
        return 0 if argv else 2
    try:
        if argv[0] not in COMMANDS:
            near = difflib.get_close_matches(argv[0], COMMANDS, n=1)
            meant = " Did you mean %s?" % near[0] if near else ""
            sys.exit("course.py: there is no command %r.%s The commands are: %s" % (argv[0], meant, " ".join(COMMANDS)))
        return dispatch(argv[0], argv[1:], as_door)
    except KeyboardInterrupt:
        print("\ncourse.py: stopped. The next run does what is missing.", file=sys.stderr)
        return 130
    except Exception as error:
        if type(error).__name__ != "Stop" and not isinstance(error, OSError):
            raise
        sys.stdout.flush()
        print("course.py: %s" % error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(as_door=True))
