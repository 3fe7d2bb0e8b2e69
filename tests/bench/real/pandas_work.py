"""Groups, joins, sorts, rolls and splits a table of a million rows as often as told. usage: pandas_work.py ROUNDS"""
import sys

import numpy as np
import pandas as pd

ROWS = 1_000_000


def table():
    rng = np.random.default_rng(7)
    return pd.DataFrame({
        "key": rng.integers(0, 5000, ROWS),
        "value": rng.normal(size=ROWS),
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**7, ROWS), unit="s"),
        "name": np.char.add("user-", rng.integers(0, 999, ROWS).astype("U3")).astype(object),
    })


def group(frame):
    return frame.groupby("key")["value"].agg(["mean", "std", "max"])


def join(frame, groups):
    return frame.merge(groups, left_on="key", right_index=True)


def order(frame):
    return frame.sort_values(["key", "value"])


def roll(frame):
    return frame["value"].rolling(100).mean()


def words(frame):
    return frame["name"].iloc[:100_000].str.upper().str.split("-").str[1].value_counts()


def main(rounds):
    frame = table()
    for _ in range(rounds):
        groups = group(frame)
        join(frame, groups)
        order(frame)
        roll(frame)
        words(frame)


if __name__ == "__main__":
    main(int(sys.argv[1]))
