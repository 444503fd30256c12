import { expect, test } from "vitest";
import { partsOf } from "../src/panels/owner";

test("each part has its cause with the responsible end, and what took no time has none", () => {
  const told = partsOf(
    {
      start_ns: [0, 1e9, 1.5e9],
      end_ns: [1e9, 1.5e9, 4e9],
      cause: ["sender-idle", "nothing", "loss-queue"],
      by: ["client", null, null],
      certainty: ["known", "known", "likely"],
    },
    (set, name) => `${set}: ${name}`,
  );
  expect(told).toEqual([
    { from: 0, to: 1, name: "sender-idle", words: "answer_cause: sender-idle (client)" },
    { from: 1.5, to: 4, name: "loss-queue", words: "answer_cause: loss-queue" },
  ]);
  expect(partsOf(null, (_, name) => name)).toEqual([]);
});
