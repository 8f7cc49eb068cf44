"""The devices that tests run on: the CPU, the simulated accelerator, and a GPU where there is one."""

import autogradlab as torch

DEVICES = ["cpu", "sim:0", *(["cuda:0"] if torch.cuda.is_available() else [])]
ACCELERATORS = DEVICES[1:]
