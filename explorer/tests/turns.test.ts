import { expect, test } from "vitest";
import type { Turn } from "../src/data/turns";
import { columnsOfTurns } from "../src/panels/turns";

function turn(host: string, start: number, end: number, waited: number | null = null, program = 0): Turn {
  return { host, start, end, bytes: 100, waited, answers: waited !== null, program };
}

test("a message that stands alone fills its column, however short it is, with the wait before it behind", () => {
  const asked = turn("client", 0.5, 0.5);
  const answer = turn("server", 9, 9.5, 8.5, 5);
  const { path, program, message } = columnsOfTurns([asked, answer], 0, 1, 10);
  expect(Array.from(message["client"])).toEqual([1, -1, -1, -1, -1, -1, -1, -1, -1, -1]);
  expect(Array.from(message["server"])).toEqual([-1, -1, -1, -1, -1, -1, -1, -1, -1, 1]);
  expect(Array.from(path)).toEqual([0.5, 1, 1, 1, 0, -1, -1, -1, -1, -1]);
  expect(Array.from(program["server"])).toEqual([-1, -1, -1, -1, 1, 1, 1, 1, 1, 0]);
  expect(Math.max(...program["client"])).toBe(-1);
});

test("of very many turns in a column each part has its share of the time", () => {
  const many = Array.from({ length: 3000 }, (_, k) => {
    const at = k * 0.01;
    return k % 2 === 0 ? turn("client", at, at, 0.01, 0.001) : turn("server", at, at, 0.01, 0.008);
  });
  const { path, program, message } = columnsOfTurns(many, 0, 1, 30);
  expect(path[15]).toBeCloseTo(0.55, 6);
  expect(program["client"][15]).toBeCloseTo(0.05, 6);
  expect(program["server"][15]).toBeCloseTo(0.4, 6);
  expect(message["server"][15]).toBe(0);
  expect(Math.min(...path)).toBeGreaterThan(0.5);
});

test("what lies outside of the view is left out, and what reaches into it is there", () => {
  const { message, path } = columnsOfTurns([turn("client", 0, 1), turn("server", 7, 20, 6)], 5, 1, 4);
  expect(Array.from(message["client"])).toEqual([-1, -1, -1, -1]);
  expect(Array.from(message["server"])).toEqual([-1, -1, 1, 1]);
  expect(Array.from(path)).toEqual([1, 1, 0, -1]);
});
