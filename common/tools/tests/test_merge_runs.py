"""Several runs of a ladder as one."""

import unittest

from tools.lib.failed import Failed
from tools.measure import merge_runs

READS = ()



def run(median, copy=4000.0, **more):
    row = {"name": "fast", "group": 1, "n": 1000, "expected": 5.0, "result": 5.0, "bytes": 4000, "operations": 1000,
           "gb_per_s": 0.0, "percent_of_copy": 0.0, "per_ns": 0.0,
           "microseconds": {"p10": median - 1, "median": median, "p90": median + 1, "samples": 20}}
    reference = {"name": "reference", "group": 1, "n": 1000, "expected": 5.0, "result": None}
    return {"chapter": "01", "device": "GPU X", "cuda": "13.0", "n": 1000, "copy_gb_per_s": copy,
            "rungs": [reference, row], **more}


class Merge(unittest.TestCase):
    def test_medians_of_medians(self):
        merged = merge_runs.merge([run(10.0, 4000.0), run(30.0, 4200.0), run(20.0, 4100.0)])
        reference, row = merged["rungs"]
        self.assertNotIn("microseconds", reference)
        self.assertEqual(row["microseconds"],
                         {"p10": 9.0, "median": 20.0, "p90": 31.0, "samples": 60, "runs": [10.0, 30.0, 20.0]})
        self.assertEqual(merged["copy_gb_per_s"], 4100.0)
        self.assertAlmostEqual(row["gb_per_s"], 0.2)
        self.assertAlmostEqual(row["percent_of_copy"], 100 * 0.2 / 4100)
        self.assertAlmostEqual(row["per_ns"], 0.05)

    def test_runs_that_do_not_belong_together_are_refused(self):
        other = run(10.0)
        other["rungs"][1]["name"] = "slow"
        for stranger in (other, run(10.0, device="GPU Y"), run(10.0, n=2000)):
            with self.assertRaisesRegex(Failed, "not runs of one ladder"):
                merge_runs.merge([run(10.0), stranger])


if __name__ == "__main__":
    unittest.main()
