import { describe, expect, it } from "vitest";
import type { Column, Container } from "../src/data/container";
import { chosenOf, gridsOf, isScattered, planesOf, type Sweep, told, upOf } from "../src/data/sweep";
import { colourAt } from "../src/panels/heatmap";
import { spreadOf } from "../src/panels/spread";

/** Two keys of numbers and one of words; the mean at each point is its number. together: the first two were sampled. */
function sweep(together = false): Sweep {
  const points = ["5%", "1%"].flatMap((loss) =>
    ["1ms", "40ms"].flatMap((delay) => ["reno", "cubic"].map((stack) => [loss, delay, stack])),
  );
  const n = points.length;
  const axes = together ? [["link.a.loss", "link.a.delay"], ["flow.up.stack"]] : [["link.a.loss"], ["link.a.delay"], ["flow.up.stack"]];
  return {
    plan: { keys: ["link.a.loss", "link.a.delay", "flow.up.stack"], units: ["", "s", null], axes: axes.map((keys) => ({ keys, values: [], count: 0 })) },
    measures: [{ column: "goodput_bps", noun: "goodput", kind: "rate" }],
    flows: ["up"],
    points: points.map((values, point) => ({
      point,
      values,
      numbers: [values[0] === "5%" ? 0.05 : 0.01, values[1] === "1ms" ? 0.001 : 0.04, null],
    })),
    summary: {
      point: points.map((_, k) => k),
      flow: new Array<number>(n).fill(0),
      measure: new Array<number>(n).fill(0),
      n: new Array<number>(n).fill(4),
      mean: points.map((_, k) => k),
      t_low: new Array<null>(n).fill(null),
      t_high: new Array<null>(n).fill(null),
    },
    differences: [],
  } as unknown as Sweep;
}

describe("a map", () => {
  it("has the other key of numbers upwards, numbers in their order, and a map for each of the rest", () => {
    const of = sweep();
    const chosen = chosenOf(of, null);
    expect(upOf(of, chosen)).toBe(1);
    const grids = gridsOf(of, chosen, 1);
    expect(grids.map((grid) => grid.words)).toEqual(["stack reno", "stack cubic"]);
    // 1% stands left of 5%, though the plan has it later.
    expect(grids[0].cells.map(({ x, y, mean }) => [x, y, mean.mean])).toEqual([[1, 0, 0], [1, 1, 2], [0, 0, 4], [0, 1, 6]]);
  });

  it("goes over words where the other numbers are held", () => {
    const of = sweep();
    const chosen = chosenOf(of, [0, 0, 0, -1, 0, -1]);
    expect(upOf(of, chosen)).toBe(2);
    expect(gridsOf(of, chosen, 2).map((grid) => grid.cells.length)).toEqual([4]);
  });

  it("is none where one key changes", () => {
    const of = sweep();
    expect(upOf(of, chosenOf(of, [0, 0, 0, -1, 0, 0]))).toBeNull();
  });

  it("has the key upwards that was chosen", () => {
    const of = sweep();
    const chosen = chosenOf(of, [0, 0, 0, -1, -1, -1, 2]);
    expect(upOf(of, chosen)).toBe(2);
    expect(told(chosen)).toEqual([0, 0, 0, -1, -1, -1, 2]);
    // Along which it goes already.
    expect(upOf(of, chosenOf(of, [0, 0, 0, -1, -1, -1, 0]))).toBe(1);
  });

  it("is a plane of dots where keys were sampled together, one for each combination of the rest", () => {
    const sampled = sweep(true);
    const chosen = chosenOf(sampled, null);
    expect(upOf(sampled, chosen)).toBe(1);
    expect(isScattered(sampled, chosen, 1)).toBe(true);
    expect(planesOf(sampled, chosen, 1).map(({ words, means }) => [words, means.length])).toEqual([["stack reno", 4], ["stack cubic", 4]]);
    // Over the key of words the other sampled one is what dots differ by.
    expect(planesOf(sampled, chosen, 2).map(({ words, means }) => [words, means.length])).toEqual([["", 8]]);
  });

  it("goes from cividis' dark blue to its yellow", () => {
    expect([colourAt(0), colourAt(1), colourAt(-1)]).toEqual(["#00224e", "#fee838", "#00224e"]);
    expect(colourAt(1 / 32)).toBe("#00285c");
  });
});

describe("single runs", () => {
  it("are a line for each point whose keys are not held elsewhere", () => {
    const of = sweep();
    const columns = new Map<string, Column>([
      ["point", Uint32Array.from([0, 0, 1, 2])],
      ["flow", Uint32Array.from([0, 0, 0, 0])],
      ["value", Float64Array.from([1, 2, 3, 4])],
      ["share", Float32Array.from([0.5, 1, 1, 1])],
    ]);
    const runs = { header: { kind: "table", rows: 4, columns: [] }, columns } as Container;
    expect(spreadOf(of, chosenOf(of, [0, 0, 0, 0, 0, -1]), runs)).toEqual([
      { words: "stack reno", values: [1, 2], shares: [0.5, 1] },
      { words: "stack cubic", values: [3], shares: [1] },
    ]);
  });
});
