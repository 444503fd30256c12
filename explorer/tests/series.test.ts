import { describe, expect, it } from "vitest";
import { type Columns, columnsOf, lowerBound, Series } from "../src/data/series";

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
    for (const width of [1, 13, 400, 5000]) {
      const step = (series.x[4200] - series.x[700]) / width;
      const first = Math.floor(series.x[700] / step);
      const columns = columnsOf(series, first, step, width);
      const a = lowerBound(series.x, first * step, 0, 5000);
      const z = lowerBound(series.x, (first + width) * step, 0, 5000);
      expect(columns.count.reduce((sum, n) => sum + n, 0)).toBe(z - a);
      const known = [...columns.lo].filter((_, c) => columns.count[c] > 0);
      expect(Math.min(...known)).toBe(Math.min(...series.lo.slice(a, z)));
      expect([...columns.last].findLast((_, c) => columns.count[c] > 0)).toBe(series.hi[z - 1]);
    }
  });

  it("has the same columns after any way of moving as when asked at once", () => {
    const seen = (columns: Columns): number[][] =>
      [...columns.count].map((n, c) => (n === 0 ? [0] : [n, columns.lo[c], columns.hi[c], columns.last[c]]));
    for (const [points, width, step] of [[5000, 60, 7.3], [5000, 300, 0.9], [400, 90, 2.1], [40, 50, 0.37]]) {
      const moved = walk(points, 5);
      const next = draws(points);
      for (let k = 0, first = 20; k < 60; k++) {
        first += Math.round((next() - 0.45) * (k % 7 === 0 ? 4 * width : width / 4));
        const wide = k % 13 === 0 ? step * 1.7 : step;
        expect(seen(columnsOf(moved, first, wide, width))).toEqual(seen(columnsOf(walk(points, 5), first, wide, width)));
      }
    }
  });

  it("counts what its points stand for", () => {
    const x = new Float64Array([0, 1, 2, 3]);
    const series = new Series(x, x, x, new Uint32Array(4), new Float64Array([5, 1, 2, 7]));
    expect([...columnsOf(series, 0, 2, 2).count]).toEqual([6, 9]);
    expect(series.count(1, 3)).toBe(3);
  });

  it("gives the same columns whether it goes by points or by columns", () => {
    const series = walk(5000, 9);
    const step = (series.x[4900] - series.x[100]) / 1000;
    // 4,800 points: by points in 1,000 columns, by columns in 500, of which each holds two of the former.
    const fine = columnsOf(series, 100, step, 1000);
    const coarse = columnsOf(walk(5000, 9), 50, 2 * step, 500);
    for (let c = 0; c < 500; c++) {
      expect(fine.count[2 * c] + fine.count[2 * c + 1]).toBe(coarse.count[c]);
      const highs = [2 * c, 2 * c + 1].filter((k) => fine.count[k] > 0).map((k) => fine.hi[k]);
      if (highs.length > 0) expect(Math.max(...highs)).toBe(coarse.hi[c]);
    }
  });

  it("is empty where there is nothing", () => {
    const none = new Series(new Float64Array(), new Float64Array(), new Float64Array(), new Uint32Array());
    expect(none.range(0, 0)).toBeNull();
    expect([...columnsOf(none, 0, 1 / 3, 3).count]).toEqual([0, 0, 0]);
  });
});
