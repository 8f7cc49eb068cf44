"""The summary that ends a run: how much was compared, and what was left out."""


def pytest_terminal_summary(terminalreporter):
    totals = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "call") != "call":
                continue
            for name, value in getattr(report, "user_properties", ()):
                if isinstance(value, int):
                    totals[name] = totals.get(name, 0) + value
                else:
                    terminalreporter.write_line(f"{name}: {value}")
    if totals:
        terminalreporter.write_line("OpInfo: " + ", ".join(f"{value} {name}" for name, value in totals.items()))
