"""What scripts/gen_python_ops.py calls, and how it records which operators that calls.

What torch has to know before it is imported for the first time is said here."""

import os
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("PYTORCH_TESTING_DEVICE_ONLY_FOR", "cpu")
