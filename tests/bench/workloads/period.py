"""A period of one millisecond, 70, 20 and 10 % of it in three functions: a sampler that ticks evenly sees the wrong one."""
import common

PERIOD_NS = 1_000_000


def seventy(until):
    while common.now() < until: pass


def twenty(until):
    while common.now() < until: pass


def ten(until):
    while common.now() < until: pass


def main():
    spent = [0, 0, 0]
    common.ready()
    start = common.now()
    while common.running():
        seventy(start + PERIOD_NS * 70 // 100)
        first = common.now()
        twenty(start + PERIOD_NS * 90 // 100)
        second = common.now()
        ten(start + PERIOD_NS)
        end = common.now()
        for i, ns in enumerate((first - start, second - first, end - second)):
            spent[i] += ns
        start = end
    total = sum(spent)
    common.truth(shares=dict(zip(("seventy", "twenty", "ten"), (s / total for s in spent))))


if __name__ == "__main__":
    main()
