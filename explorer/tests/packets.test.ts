import { describe, expect, it } from "vitest";
import { tcpdump } from "../src/data/describe";
import type { FlowRow } from "../src/data/meta";
import { proofOf } from "../src/data/proof";
import { packetsOf, WORDS } from "./packets";

/** Segment 1 is lost, three SACKs tell, it is sent again; then a timer sends segment 4, which had arrived. */
const STORY = packetsOf([
  { at: 0, data: [0, 1] },
  { at: 1, data: [1, 2], lost: true },
  { at: 2, data: [2, 3] },
  { at: 3, data: [3, 4] },
  { at: 4, data: [4, 5] },
  { at: 40, ack: 1 },
  { at: 42, ack: 1, sack: [[2, 3]] },
  { at: 43, ack: 1, sack: [[2, 4]] },
  { at: 44, ack: 1, sack: [[2, 5]] },
  { at: 45, data: [1, 2], cause: "recovery" },
  { at: 300, data: [4, 5], cause: "timeout", needless: true },
  { at: 340, ack: 5, sack: [[4, 5]], dsack: true },
]);

describe("packets", () => {
  it("are sorted into what is new, again, lost, acknowledged and reported", () => {
    expect([...STORY.fresh.lo]).toEqual([1, 101, 201, 301, 401]);
    expect([...STORY.again.keys()]).toEqual(["recovery", "timeout"]);
    expect([...STORY.gone.lo]).toEqual([101]);
    expect([...STORY.acked.hi]).toEqual([101, 101, 101, 101, 501]);
    expect([...STORY.sacked.hi]).toEqual([301, 401, 501]);
    expect([...STORY.inVain.index]).toEqual([10]);
  });

  it("stand in order of time whatever the order in the file", () => {
    const mixed = packetsOf([
      { at: 5, data: [1, 2] },
      { at: 2, data: [0, 1] },
      { at: 5, ack: 1 },
    ]);
    expect([...mixed.packet]).toEqual([2, 1, 3]);
  });

  it("are written as tcpdump does", () => {
    const flow = { sender: "10.0.0.1:4000", receiver: "[2001:db8::2]:80" } as FlowRow;
    expect(tcpdump(STORY, 9, flow)).toBe(
      "0.045000 IP 10.0.0.1.4000 > 2001:db8::2.80: Flags [.], seq 101:201, ack 1, win 1000, length 100",
    );
    expect(tcpdump(STORY, 8, flow)).toContain("options [sack 1 {201:501}]");
  });
});

describe("a proof", () => {
  it("names the lost copy and the ACKs that told of it", () => {
    const proof = proofOf(STORY, 9, WORDS)!;
    expect([proof.copies, proof.told, proof.before]).toEqual([[1], [6, 7, 8], 4]);
    expect(proof.sentences).toContain("the copy before (packet 2) left 44 ms earlier, and was lost");
    expect(proof.sentences).toContain("3 ACKs in between told of data behind it, the last (packet 9) 1.0 ms before");
  });

  it("names the DSACK that says it was needless, and the silence before a timer", () => {
    const proof = proofOf(STORY, 10, WORDS)!;
    expect([proof.copies, proof.told, proof.needless]).toEqual([[4], [], 11]);
    expect(proof.sentences).toContain("its sender had sent nothing for 255 ms");
    expect(proof.sentences.at(-1)).toContain("a DSACK says");
  });

  it("is none for what was sent once", () => {
    expect(proofOf(STORY, 0, WORDS)).toBeNull();
    expect(proofOf(STORY, 8, WORDS)).toBeNull();
  });
});
