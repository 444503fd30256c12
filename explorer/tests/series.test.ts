import { describe, expect, it } from "vitest";
import { columnsOf, countsOf, lowerBound, Series } from "../src/data/series";

/** Numbers that look random and are the same each time. */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function walk(n: number, seed: number): Series {
  const next = draws(seed);
  const x = new Float64Array(n);
  const lo = new Float64Array(n);
  const hi = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    x[i] = (i > 0 ? x[i - 1] : 0) + (next() < 0.2 ? 0 : next());
    lo[i] = next() * 100;
    hi[i] = lo[i] + next();
  }
  return new Series(x, lo, hi, Uint32Array.from(x.keys()));
}

describe("a series", () => {
  it("knows the extremes of any range, as a look at each point does", () => {
    for (const n of [1, 7, 8, 9, 64, 65, 1000]) {
      const series = walk(n, n);
      const next = draws(n + 1);
      for (let k = 0; k < 200; k++) {
        const a = Math.floor(next() * (n + 1));
        const z = a + Math.floor(next() * (n + 1 - a));
        const expected = a === z ? null : [Math.min(...series.lo.slice(a, z)), Math.max(...series.hi.slice(a, z))];
        expect(series.range(a, z)).toEqual(expected);
      }
    }
  });

  it("puts each point of the view into one column, and none of outside", () => {
    const series = walk(5000, 3);
    const [x0, x1] = [series.x[700], series.x[4200] + 1e-9];
    for (const width of [1, 13, 400, 5000]) {
      const columns = columnsOf(series, x0, x1, width);
      const inside = lowerBound(series.x, x1, 0, 5000) - lowerBound(series.x, x0, 0, 5000);
      expect(columns.count.reduce((a, b) => a + b, 0)).toBe(inside);
      const known = [...columns.lo].filter((_, c) => columns.count[c] > 0);
      expect(Math.min(...known)).toBe(Math.min(...series.lo.slice(700, 700 + inside)));
      expect([...columns.last].findLast((_, c) => columns.count[c] > 0)).toBe(series.hi[700 + inside - 1]);
      const counted = [...columns.count];
      expect([...countsOf(series, x0, x1, width)]).toEqual(counted);
    }
  });

  it("counts what its points stand for", () => {
    const x = new Float64Array([0, 1, 2, 3]);
    const series = new Series(x, x, x, new Uint32Array(4), new Float64Array([5, 1, 2, 7]));
    expect([...columnsOf(series, 0, 4, 2).count]).toEqual([6, 9]);
    expect(series.count(1, 3)).toBe(3);
  });

  it("gives the same columns whether it goes by points or by columns", () => {
    const series = walk(5000, 9);
    const [x0, x1] = [series.x[100], series.x[4900]];
    // 4,800 points: by points in 1,000 columns, by columns in 500, of which each holds two of the former.
    const fine = structuredClone(columnsOf(series, x0, x1, 1000));
    const coarse = columnsOf(series, x0, x1, 500);
    for (let c = 0; c < 500; c++) {
      expect(fine.count[2 * c] + fine.count[2 * c + 1]).toBe(coarse.count[c]);
      const highs = [2 * c, 2 * c + 1].filter((k) => fine.count[k] > 0).map((k) => fine.hi[k]);
      if (highs.length > 0) expect(Math.max(...highs)).toBe(coarse.hi[c]);
    }
  });

  it("is empty where there is nothing", () => {
    const none = new Series(new Float64Array(), new Float64Array(), new Float64Array(), new Uint32Array());
    expect(none.range(0, 0)).toBeNull();
    expect([...columnsOf(none, 0, 1, 3).count]).toEqual([0, 0, 0]);
  });
});
