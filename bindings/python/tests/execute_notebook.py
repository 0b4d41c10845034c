"""Executes a notebook, and compares its tables with those of the README.

Usage: execute_notebook.py NOTEBOOK EXECUTED
"""

import sys

import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(sys.argv[1], as_version=4)
# What `.ci/ratchet` has of the bare command.
notebook.cells.append(
    nbformat.v4.new_code_cell(
        "rounded = waits.round()\n"
        "assert rounded.loc['central-easy'].tolist() == [111, 132, 356], rounded\n"
        "assert rounded.loc['aria', 'serial'] > 0 and len(rounded) == 10, rounded\n"
        "print(rounded.to_string())"
    )
)
NotebookClient(notebook, timeout=1800, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
pictures = sum(
    "image/png" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", ())
)
print(notebook.cells[-1]["outputs"][0]["text"])
print(f"{len(notebook.cells)} cells, {pictures} pictures")
assert pictures == 3
