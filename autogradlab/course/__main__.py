"""`python -m autogradlab.course COMMAND ...`: what course.py runs inside the environment."""

import importlib
import sys

LEARNERS = ("start", "check", "submit", "progress", "pages")
COMMANDS = (*LEARNERS, "grade", "learner-tree", "exercises", "notebooks", "lint", "oracle")


def main() -> int:
    command = sys.argv[1] if len(sys.argv) > 1 else None
    if command not in COMMANDS:
        print(f"there is no command {command!r}. The commands are: {' '.join(COMMANDS)}", file=sys.stderr)
        return 2
    sys.argv[0] = f"course.py {command}"
    return importlib.import_module(f"autogradlab.course.{command.replace('-', '_')}").main(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
