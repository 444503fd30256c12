import { expect, test } from "vitest";
import type { Detail, Source } from "../src/data/meta";
import { flowsOf, layersOf } from "../src/panels/path";

function flow(number: number, sender: string, receiver: string, acked: number[], length_s = 1): Detail {
  const start_ns = acked.map((_, k) => k * length_s * 1e9);
  const intervals = { start_ns, sent_bytes: acked, new_bytes: acked, acked_bytes: acked, length_s };
  const bytes = acked.reduce((sum, n) => sum + n, 0);
  return { flow: number, key: `0/${number}`, row: { sender, receiver, bytes }, intervals } as unknown as Detail;
}

function source(details: Detail[], besides: [string, string][] = []): Source {
  const ends = [...details.map(({ row }): [string, string] => [row.sender, row.receiver]), ...besides];
  const columns = { sender: ends.map(([one]) => one), receiver: ends.map(([, one]) => one) };
  return { details, flows: { columns, left_out: 0 } } as unknown as Source;
}

test("the flows of a path are those between the same hosts, this way, the shown one first", () => {
  const mine = flow(0, "10.0.0.1:5000", "10.0.0.2:80", [1, 1]);
  const small = flow(2, "10.0.0.1:5001", "10.0.0.2:80", [1]);
  const large = flow(4, "10.0.0.1:5002", "10.0.0.2:443", [9]);
  const back = flow(1, "10.0.0.2:80", "10.0.0.1:5000", [9]);
  const other = flow(6, "10.0.0.3:5000", "10.0.0.2:80", [9]);
  const { together, all } = flowsOf(source([mine, small, large, back, other], [["10.0.0.1:7", "10.0.0.2:80"]]), mine);
  expect(together.map((one) => one.flow)).toEqual([0, 4, 2]);
  expect(all).toBe(4);
});

test("addresses of version 6 and names of ends are told from ports", () => {
  const mine = flow(0, "[fe80::1]:5000 (client)", "[fe80::2]:80 (server)", [1]);
  const same = flow(2, "[fe80::1]:5001 (client)", "[fe80::2]:80 (server)", [1]);
  const other = flow(4, "[fe80::3]:5001 (client)", "[fe80::2]:80 (server)", [1]);
  expect(flowsOf(source([mine, same, other]), mine).together.map((one) => one.flow)).toEqual([0, 2]);
});

test("one lies upon the other, in bits per second, and an interval is shared out over the steps that it lies in", () => {
  const one = flow(0, "a:1", "b:1", [100, 300]);
  const two = flow(2, "a:2", "b:1", [400], 2);
  expect(layersOf([one, two], 0, 1, 3)).toEqual([
    [800, 2400, 0],
    [2400, 4000, 0],
  ]);
  expect(layersOf([one], 0, 2, 1)).toEqual([[1600]]);
  expect(layersOf([one], 0.5, 1, 1)).toEqual([[1600]]);
});

test("flows beyond the eighth have one area together", () => {
  const many = Array.from({ length: 12 }, (_, k) => flow(2 * k, `a:${k}`, "b:1", [125]));
  const sums = layersOf(many, 0, 1, 1);
  expect(sums.length).toBe(8);
  expect(sums[7]).toEqual([12_000]);
});
