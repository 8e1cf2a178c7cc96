"""Wrong fabrics; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

from right import RightFabric


class SaysNothing(RightFabric):
    name = "says-nothing"
    caught = "problems", "problems() must return a list of lines of text, but returned ['']"

    def problems(self, job):
        return [""]


class LooksAsItLikes(RightFabric):
    name = "looks-as-it-likes"
    caught = "problems", "it wrote problems.txt; it must not, in a dry run or before a run"

    def problems(self, job):
        (job.folder / "problems.txt").write_text("")
        return []


class ChangesAllTheSame(RightFabric):
    name = "changes-all-the-same"
    changes = False
    caught = "changes", "it says that it changes nothing, and runs ['switch', 'my-routing']"


class PutsBackOnce(RightFabric):
    name = "puts-back-once"
    caught = "changes", "and called a second time []"

    def __init__(self, *arguments, **values):
        super().__init__(*arguments, **values)
        self.applied = False

    def apply(self, job, switch):
        self.applied = True
        super().apply(job, switch)

    def restore(self, job, switch):
        if self.applied:
            super().restore(job, switch)
        self.applied = False


class OneText(RightFabric):
    name = "one-text"
    caught = "result", "switch.run() takes a list of texts, but got 'switch my-routing'"

    def apply(self, job, switch):
        switch.run(f"switch {job.routing}", 5)


class WithoutLimit(RightFabric):
    name = "without-limit"
    caught = "result", "switch.run() takes a limit in seconds, but got 0"

    def apply(self, job, switch):
        switch.run(["switch"], 0)
