import { describe, expect, it } from "vitest";
import { type Asked, pairOf, tableRows } from "../src/data/flowrows";
import type { FlowColumns } from "../src/data/meta";

const COLUMNS = {
  flow: [0, 1, 2, 3],
  sender: ["10.0.0.1:5000", "10.0.0.2:80", "10.0.0.1:5001", "10.0.0.9:22"],
  receiver: ["10.0.0.2:80", "10.0.0.1:5000", "10.0.0.2:80", "10.0.0.1:6000"],
  bytes: [10, 40, 30, 20],
  cause_s: [null, 2, 1, null],
  cause: ["outage", null, "bottleneck", "outage"],
  rank: [2, 0, 1, 3],
} as unknown as FlowColumns;
const ASKED: Asked = { text: "", by: "rank", descending: false, grouped: false };

const flows = (asked: Partial<Asked>): (number | string)[] =>
  tableRows(COLUMNS, { ...ASKED, ...asked }).map((row) => ("pair" in row ? row.pair : row.place));

describe("the table of flows", () => {
  it("has the worst first", () => expect(flows({})).toEqual([1, 2, 0, 3]));

  it("sorts by a column, what is unknown last in both orders", () => {
    expect(flows({ by: "cause_s" })).toEqual([2, 1, 0, 3]);
    expect(flows({ by: "cause_s", descending: true })).toEqual([1, 2, 0, 3]);
    expect(flows({ by: "sender" })).toEqual([0, 2, 1, 3]);
  });

  it("finds all words, in either end", () => {
    expect(flows({ text: "10.0.0.2 500" })).toEqual([1, 2, 0]);
    expect(flows({ text: "OUTAGE" })).toEqual([0, 3]);
    expect(flows({ text: "nowhere" })).toEqual([]);
    expect(flows({ text: "4" })).toEqual([3]);
  });

  it("groups both directions of a pair of hosts", () => {
    expect(flows({ grouped: true })).toEqual(["10.0.0.1 ↔ 10.0.0.2", 1, 2, 0, "10.0.0.1 ↔ 10.0.0.9", 3]);
    expect(pairOf("[2001:db8::1]:80", "[2001:db8::2]:81")).toBe("[2001:db8::1] ↔ [2001:db8::2]");
  });
});
